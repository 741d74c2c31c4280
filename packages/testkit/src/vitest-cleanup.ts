// Setup file of every test project that touches a database. Vitest runs it for each test file, even if files share a
// worker and its modules. Its hook runs last in a file, after each describe has closed what its own hooks opened.
import { afterAll } from "vitest";
import { dropDatabases } from "./databases.ts";

afterAll(dropDatabases);
