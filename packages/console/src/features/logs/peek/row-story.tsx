import type { LogExplanation, LogRow } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { formatElapsed } from "../../../lib/format.ts";
import { logNote } from "../../../lib/server/server-messages.ts";
import { Loading, LoadFailed } from "../../../ui/feedback/empty.tsx";
import { findFailureText, findFaultOrigin } from "../../../shared/failures/reasons.ts";
import { useTexts as useFailureTexts } from "../../../shared/failures/texts.ts";
import { explainQuery } from "./api.ts";
import { isConsumption, isFailure } from "../kinds.ts";
import { readOther, type LogOther } from "../other.ts";
import { useTexts as useLogTexts } from "../texts.ts";
import { BatchOutcome } from "./batch-outcome.tsx";
import { readBatch } from "./batch.ts";
import { Choice } from "./choice.tsx";
import { Events } from "./events.tsx";
import { NotCharged, Price } from "./price.tsx";
import { RequestFacts } from "./request-facts.tsx";
import { useTexts } from "./texts.ts";
import { Chain, Waterfall } from "./waterfall.tsx";
import { WhoElse } from "./who-else.tsx";

interface StoryProps {
  readonly row: LogRow;
  readonly isAdmin: boolean;
}

const ENDS = {
  client_abort: "endClient",
  idle_timeout: "endSilent",
  quota_exhausted: "endQuota",
  balance: "endBalance",
  budget: "endBudget",
  guardrail: "endGuardrail",
  upstream_cut: "endCut",
  upstream_error: "endUpstream",
  server_shutdown: "endRestart",
  internal_error: "endInternal",
} as const;

const FAULT = { client: "faultClient", gateway: "faultGateway", upstream: "faultUpstream" } as const;

function isKnownWord<T extends object>(words: T, word: string | undefined): word is keyof T & string {
  return word !== undefined && Object.hasOwn(words, word);
}

interface OutcomeProps {
  readonly row: LogRow;
  readonly other: LogOther;
  readonly found: LogExplanation | undefined;
}

/** Says in one sentence what happened. */
function Outcome(props: OutcomeProps) {
  const batch = isConsumption(props.row) ? readBatch(props.row.other) : undefined;
  return batch ? <BatchOutcome batch={batch} /> : <CallOutcome {...props} />;
}

function CallOutcome(props: OutcomeProps) {
  const t = useTexts();
  const say = useLogTexts();
  const sayFailure = useFailureTexts();
  const { row, other, found } = props;
  if (isFailure(row)) {
    const fault = findFaultOrigin(other);
    const reason = findFailureText(other, sayFailure);
    return (
      <div className="log-outcome is-failed">
        <p>
          <strong>{t("failedWith", { status: other.status_code || "–", reason: reason ?? row.content })}</strong>
        </p>
        {reason !== undefined && <p>{row.content}</p>}
        <p className="soft">
          {other.error_code && <code className="mono">{other.error_code}</code>}
          {isKnownWord(FAULT, fault) && <span>{t(FAULT[fault])}</span>}
        </p>
        {other.repeated > 0 && <p className="soft">{say("repeatedCount", { count: other.repeated })}</p>}
      </div>
    );
  }
  if (!isConsumption(row)) return row.content === "" ? null : <p className="log-outcome">{logNote(row.content)}</p>;
  const end = other.used_up ?? other.end_reason;
  if (isKnownWord(ENDS, end))
    return (
      <p className="log-outcome is-cut">
        <strong>{t(ENDS[end])}</strong>
      </p>
    );
  const tried = found?.attempts.length ?? 0;
  if (other.cache_hit)
    return <p className="log-outcome is-ok">{t("fromCache", { age: formatElapsed(other.cache_age) })}</p>;
  if (tried > 1) return <p className="log-outcome is-cut">{t("answeredLater", { number: tried })}</p>;
  return found?.is_recorded ? <p className="log-outcome is-ok">{t("answeredFirst")}</p> : null;
}

/** Shows everything that is known about one row. */
export function RowStory({ row, isAdmin }: StoryProps) {
  const other = readOther(row.other);
  const isCall = (isConsumption(row) || isFailure(row)) && row.request_id !== "";
  const { data: found, error, isLoading, refetch } = useQuery({ ...explainQuery(row, isAdmin), enabled: isCall });
  const chain = other.admin_info?.use_channel ?? [];
  return (
    <>
      <Outcome row={row} other={other} found={found} />
      {isAdmin && isFailure(row) && <WhoElse row={row} other={other} />}
      <Events other={other} found={found} />
      {isLoading && <Loading />}
      {error && <LoadFailed problem={error} onRetry={() => void refetch()} />}
      {found?.is_recorded ? <Waterfall found={found} /> : <Chain row={row} chain={found || !isCall ? chain : []} />}
      {found?.is_recorded && isAdmin && <Choice found={found} />}
      {isConsumption(row) && <Price row={row} other={other} price={found?.price} />}
      {isFailure(row) && <NotCharged />}
      <RequestFacts row={row} other={other} found={found} isAdmin={isAdmin} />
    </>
  );
}
