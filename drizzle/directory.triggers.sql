-- Each change of a person is noted in its own transaction: see `unkept` in src/identity/builtin/schema.ts.
CREATE TRIGGER users_added AFTER INSERT ON users BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('user', new.id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER users_changed AFTER UPDATE OF name, email, email_verified, person_id, recovery_code_hash, language ON users BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('user', new.id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER users_deleted AFTER DELETE ON users BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('user', old.id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER identities_added AFTER INSERT ON identities BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('user', new.user_id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER identities_deleted AFTER DELETE ON identities BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('user', old.user_id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER tombstones_added AFTER INSERT ON tombstones BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('tombstone', new.pseudonym, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER tombstones_changed AFTER UPDATE ON tombstones BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('tombstone', new.pseudonym, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER debts_added AFTER INSERT ON debts BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('debts', new.person_id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER debts_changed AFTER UPDATE ON debts BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('debts', old.person_id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('debts', new.person_id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
--> statement-breakpoint
CREATE TRIGGER debts_deleted AFTER DELETE ON debts BEGIN
  INSERT INTO unkept (kind, id, version, due_at_ms)
    VALUES ('debts', old.person_id, hex(randomblob(8)), cast(unixepoch('subsec') * 1000 AS integer))
    ON CONFLICT (kind, id) DO UPDATE SET
      version = excluded.version, due_at_ms = min(due_at_ms, excluded.due_at_ms);
END;
