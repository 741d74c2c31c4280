import { OTHER_VALUE } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { BudgetSubjects } from "./budget.ts";
import { ask, eachLedger, MOST_VALUES, Spending, type BudgetHarness } from "./test-harness.contract.ts";

const PAYER = ask.userId;
const tagged = (text: string, endUser = "", userId = PAYER): BudgetSubjects => ({
  ...ask,
  userId,
  tags: { text, endUser },
});

eachLedger("a budget template", (open) => {
  let harness: BudgetHarness;
  beforeAll(async () => {
    harness = await open(3);
  });
  afterAll(() => harness.close());
  beforeEach(() => harness.reset());
  const request = (id: string, subjects: BudgetSubjects, replica = 0) => new Spending(harness, id, subjects, replica);
  const readSubjects = async (scope: string) => {
    const sql = "select subject from budgets where scope = ? and template_id <> 0 order by id";
    return (await harness.raw.rows<{ subject: string }>(sql, [scope])).map(({ subject }) => subject);
  };

  test("holds for each value by itself, and makes its budget with the first call", async () => {
    await harness.add("tag", `${PAYER}/app=*`, 100);
    expect(await request("a", tagged("app=shop|env=prod")).reserve(100)).toBeUndefined();
    expect(await request("b", tagged("app=crm")).reserve(100)).toBeUndefined();
    expect(await request("c", tagged("app=shop"), 1).reserve(1)).toMatchObject({
      budget: { scope: "tag", subject: `${PAYER}/app=shop` },
    });
    for (const [at, subjects] of [tagged("env=prod"), tagged("app=shop", "", PAYER + 1), ask].entries())
      expect(await request(`d${at}`, subjects).reserve(500)).toBeUndefined();
    expect(await readSubjects("tag")).toEqual([`${PAYER}/app=shop`, `${PAYER}/app=crm`]);
    expect(await harness.state("tag", `${PAYER}/app=*`)).toEqual({ used: 0, held: 0 });
  });

  test("counts what each member of a team and each end user spends", async () => {
    await harness.add("member", "4:*", 50);
    await harness.add("end_user", `${PAYER}/*`, 30);
    const ofTeam = (actor: string, endUser: string): BudgetSubjects => ({
      ...tagged("", endUser),
      team: { id: 4, actor },
    });
    const first = request("a", ofTeam("u17", "ann"));
    expect(await first.reserve(30)).toBeUndefined();
    await first.settle(25);
    expect(await request("b", ofTeam("u17", "bob")).reserve(26)).toMatchObject({ budget: { subject: "4:17" } });
    expect(await request("c", ofTeam("u18", "ann")).reserve(6)).toMatchObject({ budget: { subject: `${PAYER}/ann` } });
    expect(await request("d", ofTeam("s3", "")).reserve(500)).toBeUndefined();
    expect(await harness.state("member", "4:17")).toEqual({ used: 25, held: 0 });
    expect(await harness.state("end_user", `${PAYER}/ann`)).toEqual({ used: 25, held: 0 });
  });

  test("of 200 calls at once over three replicas, exactly as many pass as each new value pays for", async () => {
    await harness.add("end_user", `${PAYER}/*`, 20);
    const all = Array.from({ length: 200 }, (_, at) => request(`r${at}`, tagged("", `user-${at % 4}`), at % 3));
    const answers = await Promise.all(all.map((one) => one.reserve(1)));
    const passed = all.filter((_, at) => answers[at] === undefined);
    expect(passed).toHaveLength(80);
    await Promise.all(passed.map((one) => one.settle(1)));
    for (const user of [0, 1, 2, 3])
      expect(await harness.state("end_user", `${PAYER}/user-${user}`)).toEqual({ used: 20, held: 0 });
  });

  test("invented values share one budget beyond the bound, and then cost no query", async () => {
    await harness.add("tag", `${PAYER}/app=*`, 10);
    for (let at = 0; at < MOST_VALUES; at += 1) await request(`a${at}`, tagged(`app=v${at}`)).settle(1);
    for (let at = 0; at < MOST_VALUES; at += 1)
      expect(await request(`b${at}`, tagged(`app=v${at}`), at % 3).reserve(1)).toBeUndefined();
    expect(await readSubjects("tag")).toHaveLength(MOST_VALUES);
    expect(await request("c", tagged("app=more"), 1).reserve(6)).toBeUndefined();
    expect(await request("d", tagged("app=even-more"), 2).reserve(6)).toMatchObject({
      budget: { subject: `${PAYER}/app=${OTHER_VALUE}` },
    });
    expect(await readSubjects("tag")).toHaveLength(MOST_VALUES + 1);
    const before = harness.calls.others + harness.calls.transactions;
    for (let at = 0; at < 50; at += 1)
      harness.replicas[1]?.budgets.concerns({ subjects: tagged(`app=new${at}`), held: undefined });
    expect(harness.calls.others + harness.calls.transactions).toBe(before);
  });

  test("a value that is a star, or the name of all others, has no budget of its own", async () => {
    await harness.add("tag", `${PAYER}/app=*`, 10);
    expect(await request("a", tagged("app=*")).reserve(10)).toBeUndefined();
    expect(await request("b", tagged(`app=${OTHER_VALUE}`), 1).reserve(1)).toMatchObject({ budget: { scope: "tag" } });
    expect(await readSubjects("tag")).toEqual([`${PAYER}/app=${OTHER_VALUE}`]);
  });

  test("a value with a budget of its own in the same windows follows that one", async () => {
    await harness.add("tag", `${PAYER}/app=*`, 10);
    await harness.add("tag", `${PAYER}/app=shop`, 1_000);
    const large = request("a", tagged("app=shop"));
    expect(await large.reserve(900)).toBeUndefined();
    await large.settle(900);
    expect(await request("b", tagged("app=shop"), 1).reserve(101)).toMatchObject({ budget: { quota_limit: 1_000 } });
    expect(await request("c", tagged("app=crm")).reserve(11)).toMatchObject({ budget: { quota_limit: 10 } });
    expect(await readSubjects("tag")).toEqual([`${PAYER}/app=crm`]);
    expect(await harness.state("tag", `${PAYER}/app=shop`)).toEqual({ used: 900, held: 0 });
  });

  test("a call that runs while the budgets are read again still counts in its value", async () => {
    await harness.add("end_user", `${PAYER}/*`, 100);
    const running = request("a", tagged("", "ann"));
    const reading = harness.replicas[0]?.budgets.reload();
    expect(await running.reserve(60)).toBeUndefined();
    await reading;
    await running.settle(60);
    expect(await harness.state("end_user", `${PAYER}/ann`)).toEqual({ used: 60, held: 0 });
  });

  test("counts only the calls of its models, and opens no budget for others", async () => {
    await harness.add("end_user", `${PAYER}/*`, 10, { filter_model: "gpt-*" });
    expect(await request("a", tagged("", "ann")).reserve(500)).toBeUndefined();
    expect(await readSubjects("end_user")).toEqual([]);
    expect(await request("b", { ...tagged("", "ann"), model: "gpt-4o" }).reserve(11)).toMatchObject({
      budget: { subject: `${PAYER}/ann` },
    });
  });

  test("a hard one refuses a value that cannot be opened; a soft one lets it pass", async () => {
    await harness.add("end_user", `${PAYER}/*`, 10);
    const refused = request("a", tagged("", "ann"));
    harness.isAway = true;
    const { budgets } = harness.replicas[0] as BudgetHarness["replicas"][number];
    const use = { requestId: "x", subjects: tagged("", "ann"), held: undefined };
    await expect(budgets.reserve(use, 1 as never)).rejects.toMatchObject({ code: "budgets_unavailable" });
    harness.isAway = false;
    expect(await refused.reserve(1)).toBeUndefined();
    await harness.reset();
    await harness.add("end_user", `${PAYER}/*`, 10, { is_hard: 0 });
    harness.isAway = true;
    await expect(budgets.reserve(use, 1 as never)).resolves.toMatchObject({ amount: 0 });
    harness.isAway = false;
  });
});
