import SQLiteKit

// The schema, step by step; the list only ever grows.
extension SQLiteMessageLog {
    static let migrations = Migrations(
        applicationID: 0x5256_4D53,
        scripts: [
            """
            CREATE TABLE journal (id INTEGER PRIMARY KEY, last_key INTEGER NOT NULL, records BLOB NOT NULL);
            CREATE TABLE segment (
                user INTEGER NOT NULL,
                first_key INTEGER NOT NULL,
                last_key INTEGER NOT NULL,
                entries BLOB NOT NULL,
                PRIMARY KEY (user, first_key)
            ) WITHOUT ROWID;
            CREATE TABLE identity (hash INTEGER PRIMARY KEY, journal INTEGER NOT NULL, offset INTEGER NOT NULL);
            CREATE TABLE reported (user INTEGER PRIMARY KEY, key INTEGER NOT NULL);
            CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
            """,
            // Queues of groups and of the users of other apps, and more than one message with the same hash.
            """
            CREATE TABLE queue_segment (
                kind INTEGER NOT NULL,
                app INTEGER NOT NULL,
                owner INTEGER NOT NULL,
                first_key INTEGER NOT NULL,
                last_key INTEGER NOT NULL,
                entries BLOB NOT NULL,
                PRIMARY KEY (kind, app, owner, first_key)
            ) WITHOUT ROWID;
            INSERT INTO queue_segment SELECT 0, 1, user, first_key, last_key, entries FROM segment;
            DROP TABLE segment;
            CREATE TABLE message_identity (
                hash INTEGER NOT NULL, journal INTEGER NOT NULL, offset INTEGER NOT NULL,
                PRIMARY KEY (hash, journal, offset)
            ) WITHOUT ROWID;
            INSERT INTO message_identity SELECT hash, journal, offset FROM identity;
            DROP TABLE identity;
            CREATE TABLE reported_key (
                kind INTEGER NOT NULL, app INTEGER NOT NULL, owner INTEGER NOT NULL,
                reader_app INTEGER NOT NULL, reader INTEGER NOT NULL, key INTEGER NOT NULL,
                PRIMARY KEY (kind, app, owner, reader_app, reader)
            ) WITHOUT ROWID;
            INSERT INTO reported_key SELECT 0, 1, user, 1, user, key FROM reported;
            DROP TABLE reported;
            """,
            """
            CREATE TABLE unread_count (
                app INTEGER NOT NULL, user INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (app, user)
            ) WITHOUT ROWID;
            """,
        ])
}
