"""Generated session names: two words and a number, easy to read and to distinguish."""

import secrets

_MOODS = (
    "amber bold brave bright calm clear clever cosy eager early fair fleet fresh gentle glad golden happy "
    "keen kind light lively lucid merry mild modest neat noble patient plain polite quick quiet ready "
    "round sharp silver steady still sunny swift tidy vivid warm wise "
).split()
_THINGS = (
    "alcove atlas birch book brook cedar chart codex comet delta dune ember fern finch folio garden grove "
    "harbor heron iris island lamp lark ledger lotus maple meadow minute moon oak otter page pebble pine "
    "quill reed river shelf sparrow spruce star stone thistle tome tulip willow wren "
).split()


def generated_name() -> str:
    """Such as "quiet-heron-42"."""
    return f"{secrets.choice(_MOODS)}-{secrets.choice(_THINGS)}-{secrets.randbelow(90) + 10}"
