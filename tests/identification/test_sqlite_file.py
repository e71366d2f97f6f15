"""SQLite files read without the library: the same rows as the library gives, whatever the layout, and no view is computed."""

import contextlib
import sqlite3

import numpy as np
import pytest

from dynamis.identification.logs.sqlite_file import SqliteError, SqliteFile

SETTINGS = [
    ("page_size = 512",),
    ("page_size = 4096", "auto_vacuum = FULL"),
    ("page_size = 65536", "encoding = 'UTF-16be'"),
    ("page_size = 1024", "encoding = 'UTF-16le'", "journal_mode = WAL"),
]


def database(path, settings, rows=400, seed=0):
    rng = np.random.default_rng(seed)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as bag:
        for setting in settings:
            bag.execute(f"PRAGMA {setting}")
        bag.execute('CREATE TABLE other (a, b, PRIMARY KEY (a), CHECK (a IN (1, 2, 3) OR "b" > 0))')
        bag.execute(
            "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, [odd, name] TEXT DEFAULT ('a,b'), "
            '"data" BLOB, number REAL)'
        )
        bag.execute("BEGIN")
        for _ in range(rows):
            size = int(rng.choice([0, 1, 40, 400, 1000, 70_000], p=[0.1, 0.1, 0.4, 0.3, 0.09, 0.01]))
            whole = int(rng.integers(-(2**62), 2**62)) >> int(rng.integers(0, 62))
            number = rng.choice([0.0, 1.0, float(rng.normal())])
            bag.execute(
                "INSERT OR REPLACE INTO messages VALUES (?, ?, ?, ?, ?)",
                (
                    int(rng.integers(-1000, 10**6)),
                    whole,
                    "qéθ"[: size % 4] * (size // 3),
                    rng.bytes(size),
                    None if size == 1 else number,
                ),
            )
        bag.execute("DELETE FROM messages WHERE id % 7 = 0")
        bag.execute("COMMIT")
        bag.execute("ALTER TABLE messages ADD COLUMN late INTEGER")
        bag.execute("INSERT INTO messages VALUES (-5000, 1, 'x', x'00', 2.5, 9)")
        query = 'SELECT id, topic_id, "odd, name", data, number, late FROM messages ORDER BY id'
        return bag.execute(query).fetchall()


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: ", ".join(s))
def test_rows_are_those_the_library_reads(tmp_path, settings):
    expected = database(tmp_path / "run.db3", settings)
    with SqliteFile(tmp_path / "run.db3") as file:
        table = file.table("messages")
        assert table.columns == ("id", "topic_id", "odd, name", "data", "number", "late")
        assert list(table.rows(table.columns)) == expected
        assert [row[0] for row in table.rows(("topic_id",))] == [row[1] for row in expected]


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE VIEW messages AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS id FROM c",
        "CREATE TABLE messages(id INTEGER PRIMARY KEY, data) WITHOUT ROWID",
        "CREATE VIRTUAL TABLE messages USING fts5(data)",
    ],
)
def test_what_is_not_a_plain_table_is_refused(tmp_path, sql):
    with contextlib.closing(sqlite3.connect(tmp_path / "run.db3")) as bag:
        try:
            bag.execute(sql)
        except sqlite3.OperationalError:
            pytest.skip("this SQLite has no such tables")
        bag.commit()
    with SqliteFile(tmp_path / "run.db3") as file, pytest.raises(SqliteError):
        list(file.table("messages").cells())


def test_pages_that_point_at_one_another_end_with_an_error(tmp_path):
    database(tmp_path / "run.db3", ("page_size = 512",))
    data = bytearray((tmp_path / "run.db3").read_bytes())
    with SqliteFile(tmp_path / "run.db3") as file:
        root = file.table("messages").root
    assert data[(root - 1) * 512] == 5  # an interior page
    data[(root - 1) * 512 + 8 : (root - 1) * 512 + 12] = root.to_bytes(4, "big")
    (tmp_path / "run.db3").write_bytes(data)
    with SqliteFile(tmp_path / "run.db3") as file, pytest.raises(SqliteError, match="cycle"):
        list(file.table("messages").cells())
