-- Schema version 2.
-- Models that the program cannot open, whatever the backend: a damaged file, one that is none of its kinds.
CREATE TABLE unreadable (
  night_id INTEGER NOT NULL REFERENCES night (id), model_id INTEGER NOT NULL REFERENCES model (id), why TEXT NOT NULL,
  PRIMARY KEY (night_id, model_id)
);
-- New and regressed bugs that the command of --on-new has been told.
CREATE TABLE told (
  night_id INTEGER NOT NULL REFERENCES night (id), bug_id INTEGER NOT NULL REFERENCES bug (id), at TEXT NOT NULL,
  PRIMARY KEY (night_id, bug_id)
);
-- Nights whose answers `prune` has removed, with what they came to.
CREATE TABLE pruned (
  night_id INTEGER PRIMARY KEY REFERENCES night (id),
  models INTEGER NOT NULL, checks INTEGER NOT NULL, seconds REAL NOT NULL, at TEXT NOT NULL
);
