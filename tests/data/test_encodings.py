"""Text files in encodings other than UTF-8: said, never guessed."""

import codecs
import gzip

import numpy as np
import pytest

import discreet
from discreet.data.tables.encodings import _ONE_BYTE, known_encoding

TEST = discreet.TwoByTwo(group="straße", levels=("Köln", "Zürich"))
ROWS = ["straße;größe;raucht", "Köln;1,5;ja", "Zürich;2,5;nein", '"Köln";0,5;"ja"', "Zürich;;nein"]


def written(path, encoding, end="\r\n"):
    """Write the rows as a spreadsheet does, and say how they are to be read."""
    raw = end.join([*ROWS, ""]).encode(encoding)
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return discreet.Table(path, separator=";", decimal=",", encoding=encoding)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.txt"])
@pytest.mark.parametrize("encoding", ["windows-1252", "latin-1", "cp850", "macintosh", "utf-8"])
def test_names_levels_and_numbers_are_read_as_in_utf_8(tmp_path, name, encoding):
    """Names of columns, groups and answers have letters beyond ASCII."""
    columns = {"größe": None, "raucht": ["ja", "nein"]}
    plain = discreet.measure(written(tmp_path / "plain.csv", "utf-8"), TEST, columns=columns)
    evidence = discreet.measure(written(tmp_path / name, encoding), TEST, columns=columns)
    assert evidence.names == plain.names == ("größe", "raucht=ja", "raucht=nein")[: len(plain.names)]
    assert np.array_equal(evidence.score, plain.score)


def test_without_a_word_the_message_says_what_to_type(tmp_path):
    """As does that of a file in UTF-16, which cannot be read, by its first bytes."""
    path = tmp_path / "t.csv"
    written(path, "windows-1252")
    with pytest.raises(discreet.DiscreetError, match="--encoding windows-1252"):
        discreet.measure(discreet.Table(path, separator=";", decimal=","), TEST)
    path.write_text("a,b\n1,2\n", "utf-16")
    with pytest.raises(discreet.DiscreetError, match="UTF-16"):
        discreet.measure(path, discreet.Sign())


def test_what_is_said_and_what_the_file_begins_with_agree(tmp_path):
    """The mark of UTF-8 stands before the names of columns, and is public."""
    path = tmp_path / "t.csv"
    path.write_text("größe\n1\n2\n", "utf-8-sig")
    with pytest.raises(discreet.DiscreetError, match="leave encoding out"):
        discreet.measure(discreet.Table(path, encoding="latin-1"), discreet.Sign())
    assert discreet.measure(discreet.Table(path, encoding="utf-8"), discreet.Sign()).names == ("größe",)


def test_a_byte_that_is_no_letter_is_named_by_its_line(tmp_path):
    """Windows' encoding has five of them; nothing that the line holds is repeated."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"who,x\n" + b"a,1\n" * 40 + b"secret\x81,1\n")
    table = discreet.Table(path, encoding="windows-1252")
    with pytest.raises(discreet.DiscreetError, match="line 42: not cp1252 text") as refusal:
        discreet.measure(table, discreet.TwoByTwo(group="who", levels=("a", "b")))
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("given", ["utf-16", "shift_jis", "gbk", "utf-7", "rot13", "\0", "", "none"])
def test_encodings_of_several_bytes_are_refused(given):
    """Their lines could not be told apart by line feeds alone."""
    with pytest.raises(discreet.DiscreetError, match="windows-1252"):
        discreet.Table("t.csv", encoding=given)


@pytest.mark.parametrize("name", sorted(_ONE_BYTE))
def test_every_encoding_that_is_read_has_one_letter_a_byte_and_ascii_first(name):
    """So line feeds, quotes and separators are the same bytes in all of them, and no letter holds one."""
    assert codecs.lookup(name).name == name == known_encoding(name)
    assert bytes(range(128)).decode(name) == "".join(map(chr, range(128)))
    for byte in range(128, 256):
        letter = bytes([byte]).decode(name, "replace")
        assert len(letter) == 1
        assert letter >= "\x80"


def test_it_is_part_of_the_question_unless_it_says_nothing(tmp_path):
    """Other letters may be other levels; and it is for text files alone."""
    path = tmp_path / "t.csv"
    assert discreet.Table(path, encoding="Latin1").public() == {"encoding": "iso8859-1"}
    assert discreet.Table(path, encoding="utf8").public() == {}
    with pytest.raises(discreet.DiscreetError, match="encoding is for text files"):
        discreet.Table("t.parquet", encoding="latin-1")


def test_a_dictionary_may_be_written_in_either(tmp_path):
    """It is public: what it is written in may be looked up in it."""
    book = tmp_path / "codebook.csv"
    text = "name;label\r\nx;Körpergröße\r\n"
    for encoding in ("utf-8", "utf-8-sig", "windows-1252"):
        book.write_bytes(text.encode(encoding))
        assert discreet.Dictionary.read(book).variables[0].label == "Körpergröße"
    book.write_bytes(text.encode("utf-16"))
    with pytest.raises(discreet.DiscreetError, match="not UTF-8"):
        discreet.Dictionary.read(book)
