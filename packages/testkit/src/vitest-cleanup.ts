// Setup file of every test project that touches a database. Vitest runs it for each test file, also where files share
// a worker and its modules. Its hook is the last of a file: each describe has closed what its own hooks opened.
import { afterAll } from "vitest";
import { dropDatabases } from "./databases.ts";

afterAll(dropDatabases);
