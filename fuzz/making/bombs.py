"""Small texts that become large, deep or slow: aliases, nesting, long numbers and keys, many of everything."""

from collections.abc import Callable
from random import Random

_DEPTHS = (60, 63, 64, 65, 66, 500, 5_000, 100_000)
_COUNTS = (100, 1_000, 20_000)


def document(dice: Random) -> str:
    """A bomb for readers of YAML and JSON."""
    return dice.choice(_DOCUMENTS)(dice)


def xml(dice: Random) -> str:
    """A bomb for readers of XML."""
    return dice.choice(_XML)(dice)


def _aliases(dice: Random) -> str:
    levels = dice.randint(2, 12)
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines)


def _merges(_: Random) -> str:
    return "a: &a {b: 1}\nc:\n  <<: *a\n  <<: [*a, *a]\n"


def _cycle(_: Random) -> str:
    return "schema_version: workflow-v1\nobjective: &o [*o]\n"


def _nested(dice: Random) -> str:
    depth = dice.choice(_DEPTHS)
    opening, closing = dice.choice(
        (("[", "]"), ('{"a":', "}"), ("{a: ", "}"), ("[{a: [", "]}]"), ("- ", ""), ("? ", ""))
    )
    return opening * depth + "1" + closing * (depth if dice.randrange(4) else 0)


def _indented(dice: Random) -> str:
    depth = dice.choice((60, 65, 300, 700))
    return "\n".join(" " * n + f"k{n}:" for n in range(depth))


def _open_strings(dice: Random) -> str:
    return '{"a": ' + dice.choice(('"', '"\\', "'", '"x" ', "'x' ", "|\n", "#", '"\\u')) * dice.choice(_COUNTS)


def _numbers(dice: Random) -> str:
    digits = dice.choice("19") * dice.choice((64, 65, 400, 4_301, 100_000))
    form = dice.choice(("{}", "-{}", "{}.{}", "0.{}", "1e{}", "0x{}", "0o{}", "+{}", ".{}"))
    return '{"a": ' + form.format(digits, digits) + "}"


def _keys(dice: Random) -> str:
    count = dice.choice(_COUNTS)
    return "{" + ",".join(f'"k{n}":{n}' for n in range(count)) + "}"


def _twice(dice: Random) -> str:
    return "{" + '"a":1,' * dice.choice(_COUNTS) + '"a":1}'


def _long(dice: Random) -> str:
    text = dice.choice(("a", "é", " ", "\t", "\\n", "\\ud83d", "-", ":", "&", "*", "!", "%")) * dice.choice(
        (5_000, 260_000)
    )
    return dice.choice(('{{"{0}": 1}}', '{{"a": "{0}"}}', "{0}: 1", "a: {0}", "{0}", "# {0}\na: 1")).format(text)


def _documents(dice: Random) -> str:
    return "a: 1\n---\n" * dice.choice((2, 1_000))


def _tags(dice: Random) -> str:
    tag = dice.choice(
        ("!!python/object/apply:os.system", "!!binary", "!!set", "!!timestamp", "!x", "!<tag:x>", "!!merge")
    )
    return f"schema_version: {tag} ['id']\nb: !!int 3\n"


def _directives(dice: Random) -> str:
    return dice.choice(("%YAML 9.9\n", "%TAG ! tag:x,2000:\n", "%FOO bar\n", "%YAML 1.1\n%YAML 1.1\n")) + "---\na: no\n"


_DOCUMENTS: tuple[Callable[[Random], str], ...] = (
    *(
        _aliases,
        _merges,
        _cycle,
        _nested,
        _nested,
        _indented,
        _open_strings,
        _numbers,
        _keys,
        _twice,
        _long,
        _documents,
    ),
    *(_tags, _directives),
)


def _laughs(dice: Random) -> str:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, dice.randint(3, 12)))
    return f'<?xml version="1.0"?><!DOCTYPE s [<!ENTITY l0 "ha">{entities}]><testsuite>&l2;</testsuite>'


def _outside(dice: Random) -> str:
    source = dice.choice(('SYSTEM "file:///etc/passwd"', 'SYSTEM "http://127.0.0.1:9/x"', 'PUBLIC "x" "y"'))
    return f"<!DOCTYPE s [<!ENTITY x {source}>]><testsuite><testcase name='&x;'/></testsuite>"


def _quadratic(dice: Random) -> str:
    return f"<!DOCTYPE s [<!ENTITY a '{'a' * 50_000}'>]><s>{'&a;' * dice.choice((10, 20_000))}</s>"


def _tower(dice: Random) -> str:
    depth = dice.choice((100, 5_000, 100_000))
    return "<a>" * depth + "<testcase/>" + "</a>" * (depth if dice.randrange(3) else 0)


def _crowd(dice: Random) -> str:
    return "<s>" + "<testcase name='a'/>" * dice.choice(_COUNTS) + "</s>"


def _attributes(dice: Random) -> str:
    return "<s><testcase " + " ".join(f"a{n}='1'" for n in range(dice.choice(_COUNTS))) + "/></s>"


def _declared(dice: Random) -> str:
    name = dice.choice(
        ("utf-16", "foo", "utf-7", "latin-1", "ebcdic-cp-us", "big5", "idna", "rot13", "hex", "unicode_escape")
    )
    return f'<?xml version="1.0" encoding="{name}"?><testsuite><testcase name="a"/></testsuite>'


_XML: tuple[Callable[[Random], str], ...] = (_laughs, _outside, _quadratic, _tower, _crowd, _attributes, _declared)
