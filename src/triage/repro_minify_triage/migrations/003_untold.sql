-- Schema version 3.
-- Bugs that the command of --on-new has not taken, with the state that it is to be told of.
CREATE TABLE untold (bug_id INTEGER PRIMARY KEY REFERENCES bug (id), state TEXT NOT NULL);
