"""Tables, charts and pages made from a stored run."""
