"""Token families in SQLite: rotation, reuse detection and the grace window."""

import contextlib
import hashlib
import json
import sqlite3
import threading
import time
import uuid

from authlib.oauth2.rfc6749 import TokenMixin

SCHEMA = """
CREATE TABLE IF NOT EXISTS family (
    id TEXT PRIMARY KEY,
    user TEXT NOT NULL,
    client TEXT NOT NULL,
    revoked INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS token (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    family TEXT NOT NULL REFERENCES family (id),
    access_digest TEXT NOT NULL UNIQUE,
    refresh_digest TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    access_expires_at REAL NOT NULL,
    refresh_expires_at REAL NOT NULL,
    rotated_at REAL,
    successor TEXT
);
CREATE INDEX IF NOT EXISTS token_family ON token (family);
CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
"""

COUNTERS = [
    "sign_ins",
    "token_requests",
    "rotations",
    "grace_replays",
    "reuses",
    "refused",
    "revocations",
    "resource_ok",
    "resource_refused",
]


def digest(token):
    """What the store holds instead of the token."""
    return hashlib.sha256(token.encode()).hexdigest()


class Token(TokenMixin):
    """One access token and the refresh token issued with it."""

    def __init__(self, row):
        self.id = row["id"]
        self.family = row["family"]
        self.user = row["user"]
        self.client = row["client"]
        self.scope = row["scope"]
        self.access_expires_at = row["access_expires_at"]
        self.refresh_expires_at = row["refresh_expires_at"]
        self.rotated_at = row["rotated_at"]
        self.successor = json.loads(row["successor"]) if row["successor"] else None
        self.is_family_revoked = bool(row["revoked"])

    def check_client(self, client):
        return self.client == client.get_client_id()

    def get_scope(self):
        return self.scope

    def get_expires_in(self):
        return max(0, int(self.access_expires_at - time.time()))

    def is_expired(self):
        return time.time() >= self.access_expires_at

    def is_revoked(self):
        return self.is_family_revoked


class Store:
    """The state of the provider. `transaction` makes a request atomic, and requests consecutive."""

    def __init__(self, path, refresh_lifetime, grace):
        self.refresh_lifetime = refresh_lifetime
        self.grace = grace
        self._lock = threading.RLock()
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._database.row_factory = sqlite3.Row
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        self._database.executescript(SCHEMA)

    @contextlib.contextmanager
    def transaction(self):
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    def count(self, name):
        self._database.execute(
            "INSERT INTO counter VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1", (name,)
        )

    def statistics(self):
        with self._lock:
            values = dict(self._database.execute("SELECT name, value FROM counter").fetchall())
        return {name: values.get(name, 0) for name in COUNTERS}

    def start_family(self, user, client):
        family = str(uuid.uuid4())
        self._database.execute("INSERT INTO family (id, user, client) VALUES (?, ?, ?)", (family, user, client))
        return family

    def insert(self, family, response):
        """Records an issued pair: the response of RFC 6749 section 5.1."""
        now = time.time()
        self._database.execute(
            "INSERT INTO token (family, access_digest, refresh_digest, scope, access_expires_at, refresh_expires_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                family,
                digest(response["access_token"]),
                digest(response["refresh_token"]),
                response.get("scope", ""),
                now + response["expires_in"],
                now + self.refresh_lifetime,
            ),
        )

    def redeem(self, refresh_token):
        """The token that may be exchanged for a new pair, or None.

        A token that was rotated before is reuse and revokes its family, unless it is the direct predecessor of the
        current one and the grace window is open: then it has a `successor`, the response to give again.
        """
        token = self._find("refresh_digest", refresh_token)
        if token is None or token.is_family_revoked:
            return None
        if token.rotated_at is None:
            return token if time.time() < token.refresh_expires_at else None
        if token.successor is not None and time.time() - token.rotated_at <= self.grace:
            return token
        self.revoke(token)
        self.count("reuses")
        return None

    def rotate(self, token, response):
        """Marks a token as rotated, and keeps the response for the grace window of this token only."""
        self._database.execute("UPDATE token SET successor = NULL WHERE family = ?", (token.family,))
        self._database.execute(
            "UPDATE token SET rotated_at = ?, successor = ? WHERE id = ?",
            (time.time(), json.dumps(response), token.id),
        )

    def revoke(self, token):
        self._database.execute("UPDATE family SET revoked = 1 WHERE id = ?", (token.family,))

    def find_access_token(self, access_token):
        with self._lock:
            return self._find("access_digest", access_token)

    def find(self, token):
        return self._find("refresh_digest", token) or self._find("access_digest", token)

    def _find(self, column, token):
        row = self._database.execute(
            "SELECT token.*, family.user, family.client, family.revoked"
            f" FROM token JOIN family ON family.id = token.family WHERE token.{column} = ?",
            (digest(token),),
        ).fetchone()
        return Token(row) if row else None
