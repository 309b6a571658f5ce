-- Schema version 1. docs/triage.md says what each table is for.
CREATE TABLE build (
  id INTEGER PRIMARY KEY,
  tool TEXT NOT NULL, program TEXT NOT NULL, torch TEXT NOT NULL, python TEXT NOT NULL, compiler TEXT NOT NULL,
  machine TEXT NOT NULL,
  UNIQUE (tool, program, torch, python, compiler, machine)
);
CREATE TABLE night (
  id INTEGER PRIMARY KEY,
  build_id INTEGER NOT NULL REFERENCES build (id),
  plan TEXT NOT NULL,          -- the settings that answers depend on, as JSON: a night goes on only under the same
  started TEXT NOT NULL,
  ended TEXT,                  -- NULL: under way, or killed
  abandoned INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE model (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, path TEXT NOT NULL);
CREATE TABLE night_model (
  night_id INTEGER NOT NULL REFERENCES night (id), model_id INTEGER NOT NULL REFERENCES model (id), path TEXT NOT NULL,
  PRIMARY KEY (night_id, model_id)
);
CREATE TABLE artefact (digest TEXT PRIMARY KEY, bytes INTEGER NOT NULL);
CREATE TABLE bug (
  id INTEGER PRIMARY KEY,
  variant TEXT NOT NULL, key TEXT NOT NULL, parts TEXT NOT NULL,   -- parts: the key's, as JSON
  artefact TEXT NOT NULL REFERENCES artefact (digest),
  first_night INTEGER NOT NULL REFERENCES night (id),
  UNIQUE (variant, key)
);
-- Every check ever made. subject: a model's digest, or "bug N" for its reduced program.
CREATE TABLE observation (
  night_id INTEGER NOT NULL REFERENCES night (id), subject TEXT NOT NULL, variant TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('pass', 'fail', 'no answer')),
  signature TEXT NOT NULL, message TEXT NOT NULL, numbers TEXT NOT NULL, seconds REAL NOT NULL, at TEXT NOT NULL,
  PRIMARY KEY (night_id, subject, variant, attempt)
);
-- Every reduction tried.
CREATE TABLE reduction (
  night_id INTEGER NOT NULL REFERENCES night (id), model_id INTEGER NOT NULL REFERENCES model (id),
  variant TEXT NOT NULL,
  bug_id INTEGER REFERENCES bug (id),   -- NULL: nothing came of it; message says why
  artefact TEXT REFERENCES artefact (digest), message TEXT NOT NULL, seconds REAL NOT NULL,
  PRIMARY KEY (night_id, model_id, variant)
);
CREATE TABLE sighting (
  bug_id INTEGER NOT NULL REFERENCES bug (id), model_id INTEGER NOT NULL REFERENCES model (id),
  night_id INTEGER NOT NULL REFERENCES night (id),
  evidence TEXT NOT NULL, flaky INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (bug_id, model_id, night_id)
);
CREATE TABLE bug_night (
  bug_id INTEGER NOT NULL REFERENCES bug (id), night_id INTEGER NOT NULL REFERENCES night (id),
  standing TEXT NOT NULL, clean_nights INTEGER NOT NULL, shown TEXT NOT NULL, evidence TEXT NOT NULL,
  PRIMARY KEY (bug_id, night_id)
);
-- What the budget did not reach.
CREATE TABLE left_out (
  night_id INTEGER NOT NULL REFERENCES night (id), model_id INTEGER NOT NULL REFERENCES model (id),
  variant TEXT NOT NULL, why TEXT NOT NULL,
  PRIMARY KEY (night_id, model_id, variant)
);
CREATE TABLE decision (
  id INTEGER PRIMARY KEY, bug_id INTEGER NOT NULL REFERENCES bug (id),
  word TEXT NOT NULL CHECK (word IN ('duplicate-of', 'not-a-bug', 'note', 'split')),
  other_bug_id INTEGER REFERENCES bug (id), model_id INTEGER REFERENCES model (id), text TEXT NOT NULL, at TEXT NOT NULL
);
