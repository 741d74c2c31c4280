import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { CALLS, CASES, type Subject } from "../../../test/kit/team-calls.ts";
import { TeamSubjects } from "../../../test/kit/team-subjects.ts";

/** What owners and programs of one team reach of another team: nothing, also by its rows' ids below their own team. */

const MISSING = 987_654;
/** Calls with the id of a row below that of the team. */
const NESTED = CALLS.filter(({ path }) => path.replace("{id}", "").includes("{")).map(({ name }) => name);
/** What a program of the team may not, although admins may: it is no member, and makes no credentials. */
const OF_PEOPLE: ReadonlySet<string> = new Set(["teamLeave", "serviceTokenCreate", "serviceTokenDelete"]);

let app: ManagementApp;
let subjects: TeamSubjects;
let theirs: Subject;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  subjects = await TeamSubjects.open(app);
}, 60_000);
afterAll(() => app.close());
beforeEach(async () => {
  await subjects.clear();
  theirs = await subjects.make();
});

const TABLES = [
  ["tokens", "id", "key"],
  ["team_invitations", "id", "invitation"],
  ["webhook_endpoints", "id", "webhook"],
  ["webhook_deliveries", "id", "delivery"],
  ["service_accounts", "id", "service"],
  ["budgets", "id", "budget"],
  ["saved_reports", "id", "report"],
] as const;

/** Reads all rows of a team that calls name by an id. */
async function readRows(subject: Subject): Promise<string> {
  const rows = await Promise.all(
    TABLES.map(([table, column, member]) =>
      app.database.raw.rows(`select * from ${table} where ${column} = ?`, [subject[member]]),
    ),
  );
  const members = "select user_id, role from team_members where team_id = ? order by user_id";
  const tokens = "select * from service_tokens where service_account_id = ? order by id";
  return JSON.stringify([
    rows,
    await app.database.raw.rows(members, [subject.id]),
    await app.database.raw.rows(tokens, [subject.service]),
  ]);
}

const forget = (subject: Subject): Subject => ({
  ...subject,
  key: MISSING,
  invitation: MISSING,
  guest: MISSING,
  webhook: MISSING,
  delivery: MISSING,
  service: MISSING,
  accessToken: MISSING,
  budget: MISSING,
  report: MISSING,
});

test("there are calls with ids of rows", () => {
  expect(NESTED.length).toBeGreaterThan(25);
});

describe.each(NESTED)("%s", (name) => {
  const { send } = CASES[name] ?? expect.unreachable("the call is not in the matrix");

  test("finds no row of another team below the own one", async () => {
    const own = await subjects.make({ owner: "stranger" });
    const owner = subjects.caller("stranger");
    const before = await readRows(theirs);
    // The guest is in both teams, the owner of the other one is not in this one.
    const foreign = await send(owner, { ...theirs, guest: subjects.idOf("owner"), id: own.id, slug: own.slug });
    const missing = await send(owner, { ...forget(theirs), id: own.id, slug: own.slug });
    expect([foreign.body["success"], foreign.status, foreign.body["code"]]).toEqual([
      false,
      missing.status,
      missing.body["code"],
    ]);
    expect(await readRows(theirs)).toBe(before);
  });
});

describe.each(Object.keys(CASES))("%s", (name) => {
  const { may, send } = CASES[name] ?? expect.unreachable("the call is not in the matrix");

  test("answers a program of another team as for a team that does not exist, and one of the team as an admin", async () => {
    const other = await subjects.make({ owner: "stranger" });
    const program = await subjects.openProgram(other.id);
    const before = await readRows(theirs);
    const [reply, missing] = [await send(program, theirs), await send(program, { ...theirs, id: MISSING })];
    expect([reply.text, reply.status]).toEqual([missing.text, missing.status]);
    expect(reply.body["success"]).toBe(false);
    expect(await readRows(theirs)).toBe(before);
    const own = await send(await subjects.openProgram(theirs.id), theirs);
    expect(own.body["success"]).toBe(may.includes("admin") && !OF_PEOPLE.has(name));
  });
});
