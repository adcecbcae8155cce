"""The script that completes names in your shell."""

import importlib.metadata

import click
from click.shell_completion import ShellComplete, get_completion_class

from vidence.cli.finding import COMPLETE_VARIABLE
from vidence.errors import UsageError

SECTION = "Look up"

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(*, shell: str) -> int:
    r"""Print the script that completes commands, flags and names in SHELL.

    \b
    bash: echo 'eval "$(vidence completion bash)"' >> ~/.bashrc
    zsh:  echo 'eval "$(vidence completion zsh)"' >> ~/.zshrc
    fish: vidence completion fish > ~/.config/fish/completions/vidence.fish
    """
    kind: type[ShellComplete] | None = get_completion_class(shell)
    if kind is None:  # click has them all
        raise UsageError(f"click {importlib.metadata.version('click')} completes nothing in {shell}")
    script = kind(click.get_current_context().find_root().command, {}, "vidence", COMPLETE_VARIABLE)
    click.echo(script.source_template % script.source_vars())
    return 0
