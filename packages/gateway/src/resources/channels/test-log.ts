import { LOG_TYPE, TEST_TOKEN_NAME } from "@fairway/wire";
import { charge } from "../../billing/pricing/price.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { ProbeResult } from "../../relay/pipeline/probe.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import type { LogEntry, WriteLog } from "../../storage/log-rows.ts";

export interface TestLogDeps {
  readonly raw: RawDatabase;
  readonly writeLog: WriteLog;
  readonly clock: Clock;
  readonly snapshots: { current(): Snapshot };
}

/** The user that requested a test; the schedule acts for the super administrator. */
export interface Tester {
  readonly userId: number;
  readonly username: string;
}

export type LogTest = (channelId: number, tester: Tester, result: ProbeResult) => Promise<void>;

const NO_FIRST_TOKEN = -1000;

/**
 * Creates the writer of test rows: of type consumption, or system if the upstream failed, so that a failed test does
 * not count as a failed call. No account is charged: `other` has what the test would have cost.
 */
export function createTestLog({ raw, writeLog, clock, snapshots }: TestLogDeps): LogTest {
  return async (channelId, tester, result) => {
    const { options } = snapshots.current();
    if (!options.LogConsumeEnabled) return;
    const entry: LogEntry = {
      user_id: tester.userId,
      username: tester.username,
      created_at: seconds(clock),
      type: result.isOk ? LOG_TYPE.consume : LOG_TYPE.system,
      content: result.isOk ? TEST_TOKEN_NAME : `${TEST_TOKEN_NAME}: ${result.message}`,
      token_name: TEST_TOKEN_NAME,
      model_name: result.model,
      prompt_tokens: result.usage?.input ?? 0,
      completion_tokens: result.usage?.output ?? 0,
      use_time: Math.floor(result.milliseconds / 1000),
      channel_id: channelId,
      other: JSON.stringify(buildLogOther(channelId, result, snapshots.current())),
    };
    await raw.transaction((tx) => writeLog(tx, entry));
  };
}

function buildLogOther(
  channelId: number,
  { model, usage, isOk, milliseconds }: ProbeResult,
  { prices }: Snapshot,
): Record<string, unknown> {
  const row = prices.row(model);
  const price = prices.find(model);
  return {
    model_ratio: row.modelRatio,
    completion_ratio: row.completionRatio,
    group_ratio: 1,
    model_price: row.quotaType === 1 ? row.modelPrice : -1,
    frt: NO_FIRST_TOKEN,
    test_ms: milliseconds,
    test_ok: isOk,
    test_quota: price && usage ? charge(usage, price, { groupRatio: "1", spec: { model } }) : 0,
    admin_info: { use_channel: [String(channelId)] },
  };
}
