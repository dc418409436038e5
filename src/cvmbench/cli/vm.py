"""`cvmbench vm`: look at the machine of an arm, as a command line or from inside."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from cvmbench.cli.options import Json, Settings

app = typer.Typer(help="Start the VM of an arm, or print its command line.", no_args_is_help=True)

ArmText = Annotated[
    str, typer.Argument(metavar="ARM", help="An arm, for example plain+swiotlb=256+idle-poll.")
]
Base = Annotated[
    str,
    typer.Option("--campaign", help="Size and packages are those of this campaign or preset."),
]


@app.command("argv")
def argv(
    arm: ArmText, campaign: Base = "quick", settings: Settings = None, json: Json = False
) -> None:
    """Print the QEMU command line that an arm means; nothing is started."""
    from cvmbench.campaign.arm import parse_arm
    from cvmbench.campaign.reading import read_campaign
    from cvmbench.cli.terminal import print_json
    from cvmbench.runner.outline import command_line

    words = command_line(parse_arm(arm), read_campaign(campaign, settings or ()))
    if json:
        print_json(list(words))
        return
    text = " \\\n  ".join(_grouped(words)) if sys.stdout.isatty() else shlex.join(words)
    typer.echo(text)


@app.command("start")
def start(arm: ArmText, campaign: Base = "quick", settings: Settings = None) -> None:
    """Boot an arm, verify it, and give a shell in it; the VM ends with the shell."""
    from cvmbench.campaign.arm import parse_arm
    from cvmbench.campaign.reading import read_campaign
    from cvmbench.cli.execution import until_done
    from cvmbench.cli.terminal import errors
    from cvmbench.errors import Interrupted
    from cvmbench.report.progress import build_display, listener
    from cvmbench.report.verified import tell_checks
    from cvmbench.runner.guest_boot import BootTrace
    from cvmbench.runner.preparation import boots_for
    from cvmbench.runner.shell import guest_shell
    from cvmbench.vm.workspace import sweep

    def interrupted() -> Interrupted:
        return Interrupted("Interrupted; the VM is gone.")

    chosen = parse_arm(arm)
    source = read_campaign(campaign, settings or ())
    sweep()
    # Nothing of ours may draw on the terminal any more when ssh gets it.
    with build_display(errors()) as building, listener(errors()) as listen:
        plan = until_done(boots_for(source, (chosen,), listen, building), interrupted)
    errors().print(f"Booting {chosen.name}", markup=False)
    shell = guest_shell(plan, chosen, BootTrace(), lambda trace: tell_checks(trace, errors()))
    raise typer.Exit(until_done(shell, interrupted))


def _grouped(words: tuple[str, ...]) -> list[str]:
    """Options together with their values, for reading."""
    groups: list[list[str]] = [[words[0]]]
    for word in words[1:]:
        if word.startswith("-") and len(word) > 1:
            groups.append([word])
        else:
            groups[-1].append(word)
    return [shlex.join(group) for group in groups]
