"""The guest image: what goes in (`recipe`), how it is made (`build`), and where it is (`cache`)."""
