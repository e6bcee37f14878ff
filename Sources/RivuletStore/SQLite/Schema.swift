import SQLiteKit

/// The schema of an account's file; steps are only ever added at the end.
enum Schema {
    /// "Rivu" in ASCII.
    static let applicationID: Int32 = 0x5269_7675

    static let migrations = Migrations(
        applicationID: applicationID, scripts: [first, second, third, fourth, fifth, sixth, seventh, eighth])

    private static let first = """
        CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

        CREATE TABLE session (
            id INTEGER PRIMARY KEY,
            kind TEXT NOT NULL, peer INTEGER NOT NULL, app INTEGER NOT NULL,
            next_position INTEGER NOT NULL, first_position INTEGER NOT NULL,
            last_message INTEGER, last_position INTEGER NOT NULL, activity_ms INTEGER NOT NULL,
            unread INTEGER NOT NULL DEFAULT 0, mentions INTEGER NOT NULL DEFAULT 0,
            read_position INTEGER, draft TEXT,
            is_pinned INTEGER NOT NULL DEFAULT 0, is_muted INTEGER NOT NULL DEFAULT 0,
            is_hidden INTEGER NOT NULL DEFAULT 0,
            is_listed INTEGER GENERATED ALWAYS AS (
                is_hidden = 0 AND (last_message IS NOT NULL OR draft IS NOT NULL)) VIRTUAL,
            UNIQUE (kind, peer, app)
        );
        CREATE INDEX session_list ON session (is_listed, is_pinned, activity_ms, id);

        CREATE TABLE message (
            id INTEGER PRIMARY KEY,
            session INTEGER NOT NULL, position INTEGER,
            sender INTEGER NOT NULL, uuid TEXT, server_key INTEGER, local_number INTEGER NOT NULL,
            time_ms INTEGER NOT NULL, kind TEXT NOT NULL, state INTEGER NOT NULL, failure TEXT,
            flags INTEGER NOT NULL, revision INTEGER NOT NULL, raw TEXT NOT NULL
        );
        CREATE UNIQUE INDEX message_place ON message (session, position) WHERE position IS NOT NULL;
        CREATE UNIQUE INDEX message_uuid ON message (uuid) WHERE uuid IS NOT NULL;
        CREATE INDEX message_like ON message (sender, local_number, time_ms)
            WHERE uuid IS NULL AND local_number <> 0;

        CREATE TABLE outbox (
            number INTEGER PRIMARY KEY, message INTEGER, session INTEGER NOT NULL, control TEXT,
            uuid TEXT, command INTEGER NOT NULL, flags INTEGER NOT NULL, body BLOB NOT NULL,
            created_ms INTEGER NOT NULL
        );
        CREATE INDEX outbox_message ON outbox (message) WHERE message IS NOT NULL;
        CREATE TABLE sync_key (is_group INTEGER NOT NULL, id INTEGER NOT NULL, key INTEGER NOT NULL,
            PRIMARY KEY (is_group, id)) WITHOUT ROWID;

        CREATE TABLE reaction (
            id INTEGER PRIMARY KEY, message INTEGER NOT NULL, emoji TEXT NOT NULL, user INTEGER NOT NULL,
            UNIQUE (message, emoji, user)
        );
        CREATE TABLE reader (message INTEGER NOT NULL, user INTEGER NOT NULL,
            PRIMARY KEY (message, user)) WITHOUT ROWID;
        CREATE TABLE vote (message INTEGER NOT NULL, user INTEGER NOT NULL, options TEXT NOT NULL,
            PRIMARY KEY (message, user)) WITHOUT ROWID;
        CREATE TABLE earlier_text (
            id INTEGER PRIMARY KEY, message INTEGER NOT NULL, text TEXT NOT NULL, time_ms INTEGER NOT NULL);
        CREATE INDEX earlier_text_message ON earlier_text (message);
        CREATE TABLE waiting (
            id INTEGER PRIMARY KEY, target TEXT NOT NULL, sender INTEGER NOT NULL, time_ms INTEGER NOT NULL,
            raw TEXT NOT NULL);
        CREATE INDEX waiting_target ON waiting (target);

        CREATE VIRTUAL TABLE search USING fts5 (
            text, scope, content = '', tokenize = 'unicode61 remove_diacritics 2');
        """

    /// People, favourites, labels, media; and the JSON of messages that burn, apart, so that it can be wiped.
    private static let second = """
        CREATE TABLE burning (message INTEGER PRIMARY KEY, raw TEXT NOT NULL);
        CREATE TABLE tag (message INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (message, tag)) WITHOUT ROWID;
        CREATE TABLE favorite (id INTEGER PRIMARY KEY, message INTEGER NOT NULL UNIQUE);
        CREATE INDEX message_media ON message (session, position)
            WHERE position IS NOT NULL AND kind IN ('image', 'video', 'audio', 'file', 'link', 'location');
        CREATE INDEX message_pinned ON message (session, position) WHERE position IS NOT NULL AND flags & 32 <> 0;

        CREATE TABLE contact (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, remark TEXT, avatar TEXT, is_blocked INTEGER NOT NULL);
        CREATE TABLE chat_group (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, notice TEXT NOT NULL, avatar TEXT,
            is_muted INTEGER NOT NULL, is_pinning_restricted INTEGER NOT NULL, is_super INTEGER NOT NULL,
            is_disbanded INTEGER NOT NULL);
        CREATE TABLE member (
            chat_group INTEGER NOT NULL, user INTEGER NOT NULL, role TEXT NOT NULL, nickname TEXT,
            is_muted INTEGER NOT NULL, PRIMARY KEY (chat_group, user)) WITHOUT ROWID;
        """

    /// The search in shards (`SQLiteTables+Search.swift`), each a table of its own, made when it is needed.
    private static let third = """
        DROP TABLE search;
        CREATE TABLE search_shard (id INTEGER PRIMARY KEY);
        INSERT OR REPLACE INTO meta VALUES ('reindex', 1);
        """

    /// The search cuts at everything that is no letter, also at what SQLite's tables do not know.
    private static let fourth = "INSERT OR REPLACE INTO meta VALUES ('reindex', 1);"

    /// What a draft answers, changes and addresses.
    private static let fifth = """
        ALTER TABLE session ADD COLUMN draft_details TEXT;
        """

    /// The times of each stretch of messages let a search by date pass over the others.
    private static let sixth = """
        CREATE TABLE search_span (id INTEGER PRIMARY KEY, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL);
        INSERT OR REPLACE INTO meta VALUES ('reindex', 1);
        """

    /// Changes by this device that the server has not put in order yet.
    private static let seventh = """
        CREATE TABLE own_change (
            id INTEGER PRIMARY KEY, target TEXT NOT NULL, raw TEXT NOT NULL, time_ms INTEGER NOT NULL, hidden TEXT,
            was_edited INTEGER NOT NULL);
        CREATE INDEX own_change_target ON own_change (target);
        """

    /// The same index with its kinds one by one: for a list SQLite makes and fills a table at every row it writes.
    private static let eighth = """
        DROP INDEX message_media;
        CREATE INDEX message_media ON message (session, position) WHERE \(mediaCondition);
        """

    /// The condition of the index `message_media`; a query needs it word for word to be allowed to use it.
    static let mediaCondition = """
        position IS NOT NULL AND (kind = 'image' OR kind = 'video' OR kind = 'audio' OR kind = 'file' OR kind = 'link'
            OR kind = 'location')
        """
}
