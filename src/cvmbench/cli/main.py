"""The `cvmbench` program: registers the commands and turns errors into sentences.

Commands import what they need when they are called, so that `--help` answers at once.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from cvmbench import __version__
from cvmbench.cli import (
    doctor,
    export,
    image,
    listing,
    plan,
    report,
    resume,
    run,
    runs,
    show,
    vm,
)
from cvmbench.cli.terminal import errors, leave_pipe, make_safe
from cvmbench.errors import CvmbenchError, HostCannotError, Interrupted

app = typer.Typer(
    name="cvmbench",
    help="What does a confidential VM cost, why, and what lowers it?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("doctor")(doctor.doctor)
app.command("list")(listing.listing)
app.add_typer(image.app, name="image")
app.add_typer(vm.app, name="vm")
app.command("plan")(plan.plan)
app.command("run")(run.run)
app.command("resume")(resume.resume)
app.command("runs")(runs.runs)
app.command("show")(show.show)
app.command("report")(report.report)
app.command("export")(export.export)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cvmbench {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of the program itself."""


def main() -> None:
    """Run the program and leave with one of the documented exit codes."""
    make_safe()
    try:
        app(standalone_mode=True)
    except SystemExit as leaving:
        sys.exit(_flushed(leaving.code))
    except CvmbenchError as error:
        tell(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        tell(Interrupted("Interrupted."))
        sys.exit(Interrupted.exit_code)
    except BrokenPipeError:
        leave_pipe()
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        tell(HostCannotError(f"The system refused: {where}{error.strerror or error}."))
        sys.exit(HostCannotError.exit_code)
    except Exception as error:  # whatever else it is, it is ours to mend
        tell(defect(error))
        sys.exit(1)


def _flushed(code: object) -> int | str | None:
    """The exit code, once what was printed has reached its reader; 4 if it could not."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        leave_pipe()
    except OSError as error:
        tell(HostCannotError(f"The output could not be written: {error.strerror}."))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return HostCannotError.exit_code
    return code if isinstance(code, int | str) else None


def tell(error: CvmbenchError) -> None:
    """Print an error as what happened, why, and what to do, each on a line of its own."""
    from cvmbench.report.escape import cleaned

    console = errors()
    console.print(f"Error: {cleaned(error.what)}", style="bold red", markup=False, highlight=False)
    for part in (error.why, error.remedy):
        if part:
            console.print(f"  {cleaned(part)}", markup=False, highlight=False)


def defect(error: Exception) -> CvmbenchError:
    """What is told of an error that nobody foresaw; its trace goes to a file, not to the user."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="cvmbench-defect-", suffix=".txt", delete=False, errors="replace"
    ) as file:
        file.writelines(traceback.format_exception(error))
    return CvmbenchError(
        f"cvmbench met something it was not made for: {type(error).__name__}: {error}",
        why="This is a defect of cvmbench, or damaged data.",
        remedy=f"Please report it with the trace in {file.name}",
    )
