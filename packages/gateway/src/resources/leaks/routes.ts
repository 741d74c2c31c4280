import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { LeakReport, leakReport, type LeakVerdict, type OptionValues } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { seconds } from "../../lib/clock.ts";
import type { Outbound } from "../../lib/net/outbound.ts";
import { Refusal } from "../../lib/refusal.ts";
import { parseJson } from "../../lib/text/json.ts";
import type { Limiter, Rule } from "../../limits/limiter.ts";
import type { Logger } from "../../observability/log.ts";
import type { TokenStoreDeps } from "../tokens/store.ts";
import { actOnLeak, type LeakAction } from "./act.ts";
import { createPublicKeys, type FindPublicKey } from "./public-keys.ts";
import { isSignedByScanner, isSignedWith, readHeader } from "./signature.ts";

export interface LeakRouteDeps extends TokenStoreDeps {
  readonly limiter: Limiter;
  readonly outbound: Outbound;
  readonly options: () => OptionValues;
  readonly log: Pick<Logger, "warn">;
}

const REPORTS: Rule = { name: "leak-reports", limit: 60, windowMs: 60_000 };
const IDENTIFIER = "github-public-key-identifier";
const SIGNATURE = "github-public-key-signature";

/** Creates the route by which scanners report keys that they found in public places. */
export function leakRoute(deps: LeakRouteDeps): Route {
  const findKey = createPublicKeys(deps);
  return implement(leakReport, async ({ request, text: read }) => {
    const { LeakReports, LeakSecret, LeakAction: action } = deps.options();
    if (LeakReports === "off" || (LeakReports === "hmac" && LeakSecret === ""))
      throw new Refusal("leak_reports_disabled");
    const { admitted, resetMs } = await deps.limiter.take(REPORTS, "");
    if (!admitted) throw new Refusal("too_many_requests", { retryAfterSeconds: Math.ceil(resetMs / 1000) });
    const text = await read();
    if (!(await isGenuine(deps, findKey, request, text))) throw new Refusal("leak_signature_wrong");
    const report = LeakReport.safeParse(parseJson(text));
    if (!report.success) throw new Refusal("leak_report_invalid");
    const verdicts: LeakVerdict[] = [];
    for (const leak of report.data) {
      const isKey = await actOnLeak(deps, leak, action as LeakAction);
      verdicts.push({
        token_hash: createHash("sha256").update(leak.token).digest("hex"),
        token_type: leak.type,
        label: isKey ? "true_positive" : "false_positive",
      });
    }
    return verdicts;
  });
}

async function isGenuine(
  { options, clock, log }: LeakRouteDeps,
  findKey: FindPublicKey,
  { headers }: Pick<IncomingMessage, "headers">,
  text: string,
): Promise<boolean> {
  const { LeakReports, LeakSecret, LeakGithubUrl } = options();
  if (LeakReports === "hmac") return isSignedByScanner(headers, text, LeakSecret, seconds(clock));
  const [identifier, signature] = [readHeader(headers, IDENTIFIER), readHeader(headers, SIGNATURE)];
  if (identifier === "" || signature === "") return false;
  try {
    const key = await findKey(LeakGithubUrl, identifier);
    return key !== undefined && isSignedWith(key, text, signature);
  } catch (error) {
    log.warn("the public keys for reports of leaked keys could not be read", { error });
    return false;
  }
}
