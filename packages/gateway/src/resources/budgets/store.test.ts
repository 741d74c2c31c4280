import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { accountRow } from "../../identity/accounts/accounts.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { insertRow } from "../../storage/inserts.ts";
import { tokenFields } from "../tokens/input.ts";
import { createTokenStore } from "../tokens/store.ts";
import { planTokenBudget } from "../tokens/token-budget.ts";
import { createBudgetStore } from "./store.ts";
import { BUDGET_DEFAULTS } from "./terms.ts";

eachDatabase("budgets of a user", (open) => {
  const OWNER = 7;
  const OTHER = 17;
  let kit: StoreKit;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    for (const id of [OWNER, OTHER]) {
      const account = accountRow({ username: `owner ${id}`, passwordHash: "", createdAt: START_SECONDS });
      await insertRow(kit.database.db, "users", { ...account, id });
    }
  });
  afterAll(() => kit.database.close());

  test("are those of the account and of its tokens, by name", async () => {
    const budgets = createBudgetStore(kit);
    const tokens = createTokenStore({ ...kit, tokens: { dropToken: () => undefined } });
    const token = (owner: number, name: string) =>
      tokens.create(
        owner,
        tokenFields({ name }, () => true),
      );
    const make = (scope: "user" | "token" | "model", subject: string | number) =>
      budgets.create({
        ...BUDGET_DEFAULTS,
        scope,
        subject: String(subject),
        period: "day",
        filter_model: "",
        managed_by: "admin",
        quota_limit: 5,
      });
    await make("user", OWNER);
    await make("user", OTHER);
    await make("model", OWNER);
    expect((await budgets.ofUser(OWNER)).map(({ scope }) => scope)).toEqual(["user"]);
    const [own, gone] = [await token(OWNER, "own"), await token(OWNER, "gone")];
    for (const { id } of [own, gone, await token(OTHER, "other")]) await make("token", id);
    await tokens.remove(OWNER, gone.id);
    const found = await budgets.ofUser(OWNER);
    expect(found.map(({ scope, subject_name: name }) => [scope, name])).toEqual([
      ["user", `owner ${OWNER}`],
      ["token", "own"],
    ]);
  });

  test("of a new token are made with it, or neither is", async () => {
    const tokens = createTokenStore({ ...kit, tokens: { dropToken: () => undefined } });
    const budget = planTokenBudget({ period: "month", quota_limit: 50 }, { clock: kit.clock, kind: kit.database.kind });
    const fields = tokenFields({ name: "monthly" }, () => true);
    const revision = () =>
      kit.database.db.selectFrom("revisions").select("revision").where("topic", "=", "options").executeTakeFirst();
    const before = Number((await revision())?.revision ?? 0);
    const token = await tokens.create(OTHER, fields, undefined, budget);
    const made = await createBudgetStore(kit).ofUser(OTHER);
    expect(made.filter(({ subject }) => subject === String(token.id))).toMatchObject([
      { scope: "token", subject_name: "monthly", period: "month", quota_limit: 50, used: 0, is_hard: true },
    ]);
    expect(Number((await revision())?.revision)).toBe(before + 1);
    const count = await tokens.count(OTHER);
    const failing = async (id: number, tx: RawTransaction) => {
      await budget(id, tx);
      throw new Refusal("budget_too_many", { field: "subject" });
    };
    await expect(tokens.create(OTHER, fields, undefined, failing)).rejects.toThrow(Refusal);
    expect(await tokens.count(OTHER)).toBe(count);
    expect(await createBudgetStore(kit).ofUser(OTHER)).toHaveLength(made.length);
  });
});
