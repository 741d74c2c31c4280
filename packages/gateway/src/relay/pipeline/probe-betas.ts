// Tests which betas of a client the host of a channel accepts, one at a time. Hosts differ by model and change without
// notice, so operators can compare the result with what the gateway forwards.
import type { BetaAnswer } from "@fairway/wire";
import type { ChannelRecord, HostFilter } from "../../providers/core/types.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";
import { learnedNames } from "../conversion/learned-filters.ts";
import { providerByType } from "../../providers/registry.ts";
import { probeProtocol, testedModel, type ProbeDeps, type ProbeResult } from "./probe.ts";

const AT_ONCE = 8;
/** Shorter than the time that a call of the management API may take. */
const ROUND_MS = 40_000;
const PROTOCOL = "anthropic-messages";
/** Statuses with which a host refuses a beta; it has answered the same question without the beta. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 422]);

export interface BetasProbed {
  readonly host: string;
  /** The result without any beta; if it fails, no beta is tested. */
  readonly plain: ProbeResult;
  readonly betas: readonly BetaAnswer[];
}

/** Undefined for channels that do not accept betas. */
export async function probeBetas(
  channel: ChannelRecord,
  wanted: string | undefined,
  requestId: string,
  deps: ProbeDeps,
): Promise<BetasProbed | undefined> {
  const filter = providerByType(channel.type)?.hostFilter;
  if (!filter) return undefined;
  const model = testedModel(channel, wanted);
  const unfiltered = { ...channel, setting: { ...channel.setting, filters: "off" } };
  const ask = (headers: Readonly<Record<string, string>>) =>
    probeProtocol({ channel: unfiltered, model, requestId, dialect: PROTOCOL, headers }, deps);
  const plain = await ask({});
  const host = filter.host(channel);
  if (!plain.isOk) return { host, plain, betas: [] };
  const sentAs = sentNames(filter, channel, model, deps);
  const until = performance.now() + ROUND_MS;
  const betas: BetaAnswer[] = [];
  const waiting = filter.betas.names.entries();
  const work = async () => {
    for (const [index, name] of waiting) {
      const found = performance.now() < until ? toFound(await ask({ [filter.betas.header]: name })) : UNTRIED;
      betas[index] = { name, ...found, sent_as: sentAs(name) };
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { host, plain, betas };
}

type Found = Pick<BetaAnswer, "answer" | "message">;

const UNTRIED: Found = { answer: "failed", message: "The time was up before it was tried." };

function toFound({ isOk, message, upstreamError }: ProbeResult): Found {
  if (isOk) return { answer: "taken", message: "" };
  return { answer: REFUSALS.has(upstreamError?.status ?? 0) ? "refused" : "failed", message };
}

/** Maps a beta to its name at the host, as calls of clients send it; "" if it is left out. */
function sentNames(filter: HostFilter, channel: ChannelRecord, model: string, deps: ProbeDeps) {
  const upstreamModel = mapModel(channel.modelMapping, model);
  const learned = learnedNames(channel, upstreamModel, deps.now());
  const target = { channel, upstreamModel, isConverted: false, overrides: deps.filterOverrides?.(), learned };
  const { header, read } = filter.betas;
  return (name: string) => read(filter.apply({ body: {}, headers: { [header]: name } }, target))[0] ?? "";
}
