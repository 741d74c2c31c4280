// The budget that ended a call: what the relay writes into the row, its explanation reads, whatever the budget limits.
import { BUDGET_PERIODS, BUDGET_SCOPES } from "@fairway/wire";
import { expect, test } from "vitest";
import { stopDetail } from "../../relay/trace/stop-detail.ts";
import { explain } from "./explain.ts";
import type { StoredLog } from "./view.ts";

const RULE = { time_zone: "UTC", anchor: "", ends_at: 0, filter_model: "", is_hard: 1 };
const cases = BUDGET_SCOPES.flatMap((scope) => BUDGET_PERIODS.map((period) => ({ scope, period })));

test.each(cases)("a budget of a $scope by $period is named", ({ scope, period }) => {
  const length = period === "hours" ? 5 : 0;
  const terms = { id: 3, scope, subject: "7", subject_name: "ada", quota_limit: 900 };
  const detail = stopDetail({ usedUp: { ...RULE, ...terms, period, length } }, true);
  const row = {
    request_id: "r",
    created_at: 1,
    type: 5,
    model_name: "m",
    group: "default",
    content: "",
    other: JSON.stringify({ ...detail?.shared, admin_info: detail?.operator }),
  } as StoredLog;
  const { budget } = explain(row, { channelNames: new Map(), isOwner: false });
  expect(budget).toEqual({ ...terms, period, length });
});
