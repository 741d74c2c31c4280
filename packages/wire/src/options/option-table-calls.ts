import { affinityRulesType, DEFAULT_AFFINITY_RULES } from "./affinity.ts";
import { CHANNEL_STRATEGIES } from "../core/strategies.ts";
import { fallbacksType, groupFallbacksType } from "./fallback-types.ts";
import { filterOverridesType } from "./filter-overrides.ts";
import { ALL_RATIOS_1, count, flag, option, positive, text } from "./option-definition.ts";
import {
  choiceType,
  integerType,
  labelsType,
  limitsType,
  linesType,
  modalitiesType,
  namesType,
  numberType,
  ownLimitsType,
  ratiosType,
} from "./option-kinds.ts";
import { promptBordersType } from "./prompt-borders.ts";
import { strategiesType } from "./strategies-type.ts";

const ratios = ratiosType();

/** Options for quota and prices, limits of model calls, and routing. */
export const CALL_OPTIONS = {
  QuotaForNewUser: option(count, "0", ["quota", "Gift for a new account."]),
  PreConsumedQuota: option(count, "500", ["quota", "Smallest reservation of a request."]),
  QuotaForInviter: option(count, "0", ["quota", "Reward for an invitation."]),
  QuotaForInvitee: option(count, "0", ["quota", "Gift for an account that was invited."]),
  DefaultOutputTokens: option(positive, "1000", [
    "quota",
    "Output tokens that a request without a cap needs at least, and that a stream without a cap begins with.",
  ]),
  UnlistedOutputTokens: option(positive, "16384", [
    "quota",
    "Output tokens that a plain request without a cap reserves where neither the price list nor ModelOutputTokens knows the model's limit.",
  ]),
  ModelOutputTokens: option(ratios, "", [
    "prices",
    "Output tokens of one answer at most, by model; wins over the limit in the price list.",
  ]),
  ModelContextTokens: option(ratios, "", [
    "prices",
    "Tokens that prompt and answer may have together, by model; wins over the limit in the price list.",
  ]),
  ModelModalities: option(modalitiesType, "{}", [
    "prices",
    "What models take and give, such as text+image->text; wins over the price list. Model lists show it.",
  ]),
  ModelDetails: option(flag, "true", [
    "prices",
    "Model lists for clients carry context length, longest answer, modalities and price, where they are known.",
  ]),
  ModelListPrices: option(flag, "true", [
    "prices",
    "Those details carry the price of a token in US dollars, with the ratio of the caller's group.",
  ]),
  StopStreamsOnEmptyBalance: option(flag, "true", ["quota", "A running stream ends when the balance does."]),
  BillAbortedPrompt: option(flag, "false", ["quota", "A request that its client leaves early pays for the prompt."]),
  FinishAbandonedCalls: option(flag, "false", [
    "quota",
    "A plain call that its client leaves is read to its end and charged by its usage, as vendors do; otherwise it is cancelled.",
  ]),
  ReadOnSeconds: option(integerType(0, 600), "10", [
    "quota",
    "Seconds that a stream of a model that reasons is read on after its client left, for the usage at its end; 0 is off.",
  ]),
  ReadOnTokens: option(positive, "2000", ["quota", "Output tokens after which reading on ends."]),
  RealtimeOutputReserve: option(positive, "1500", [
    "quota",
    "Output tokens that each answer of a realtime session reserves, and reserves again before it has used them.",
  ]),
  RealtimeLingerMs: option(integerType(0, 60_000), "5000", [
    "quota",
    "Milliseconds that an upstream is waited for when a realtime session ends during an answer, for the usage at its end.",
  ]),
  RealtimeIdleSeconds: option(integerType(10, 3_600), "600", [
    "relay",
    "Seconds without an event from either side after which a realtime session is closed.",
  ]),
  TokenSocketLimit: option(count, "64", [
    "relay",
    "Realtime sessions that a token may have open at once in each process; 0 is off.",
  ]),
  RealtimeSecondPrice: option(ratios, "", [
    "prices",
    "Dollars per second of a realtime session, by model; charged instead of tokens there.",
  ]),
  ModelPrice: option(ratios, "", ["prices", "Dollars per call, by model; wins over the ratio."]),
  ModelRatio: option(ratios, "", ["prices", "Input ratio by model; 1 is 2 dollars per million tokens."]),
  CompletionRatio: option(ratios, "", ["prices", "Output price as a multiple of the input price, by model."]),
  CacheRatio: option(ratios, "", ["prices", "Price of cached input as a multiple of the input price, by model."]),
  CreateCacheRatio: option(ratios, "", [
    "prices",
    "Price of writing the cache as a multiple of the input price, by model.",
  ]),
  ImageRatio: option(ratios, "", ["prices", "Price of image tokens as a multiple of the input price, by model."]),
  AudioRatio: option(ratios, "", ["prices", "Price of audio input as a multiple of the input price, by model."]),
  AudioCompletionRatio: option(ratios, "", ["prices", "Price of audio output as a multiple of audio input, by model."]),
  PromptBorders: option(promptBordersType, "{}", [
    "prices",
    "Rates of prompts above a border, by model, as multiples of its own rates; in place of the borders of the price list.",
  ]),
  ToolPrice: option(ratios, "", [
    "prices",
    "Dollars per thousand calls of tools that the vendor runs, by tool or tool/model, on top of the tokens; adds to the built-in prices.",
  ]),
  CacheStoragePrices: option(ratios, "", [
    "prices",
    "Dollars for storing a million tokens of an explicit cache for an hour, by model; adds to the built-in prices.",
  ]),
  ServiceTierRatio: option(ratios, "", [
    "prices",
    "Price multiplier of a service tier or speed, by tier or tier/model, such as priority; adds to the built-in ones.",
  ]),
  GroupRatio: option(ratios, ALL_RATIOS_1, ["prices", "Price multiplier by group; its names are the groups."]),
  UserUsableGroups: option(labelsType, '{"default":"Default group","vip":"vip group"}', [
    "prices",
    "Groups that users may choose for tokens, with their labels.",
  ]),
  AutoGroups: option(namesType, '["default"]', ["prices", "Groups that a token of group auto tries, in order."]),
  CarriedKeysEnabled: option(flag, "false", [
    "relay",
    "Keys that an import brought from another gateway are found by their SHA-256; the import switches it on.",
  ]),
  ModelRequestRateLimitEnabled: option(flag, "false", ["relay", "Model requests are limited per user."]),
  ModelRequestRateLimitDurationMinutes: option(integerType(1, 525_600), "1", [
    "relay",
    "Window of the limit in minutes.",
  ]),
  ModelRequestRateLimitCount: option(count, "0", ["relay", "Requests per window; 0 is off."]),
  ModelRequestRateLimitSuccessCount: option(count, "1000", ["relay", "Successful requests per window; 0 is off."]),
  UserConcurrency: option(count, "0", ["relay", "Requests that a user may have running at once; 0 is off."]),
  TokenConcurrency: option(count, "0", ["relay", "Requests that a token may have running at once; 0 is off."]),
  DefaultTokenLimits: option(ownLimitsType, "{}", [
    "relay",
    "Limits of every single token; its own limits can only be tighter.",
  ]),
  DefaultUserLimits: option(ownLimitsType, "{}", [
    "relay",
    "Limits of every single user; what a user's own limits name holds instead.",
  ]),
  GroupLimits: option(limitsType, "{}", [
    "relay",
    "Limits of all users of a group together, by name; * is every other one.",
  ]),
  ModelLimits: option(limitsType, "{}", [
    "relay",
    "Limits of all users of a model together, by name; * is every other one.",
  ]),
  ModelFallbacks: option(fallbacksType, "{}", [
    "relay",
    "Models that serve in place of one that cannot, in order, by model, prefix with * at its end, or *; each says on which causes: error, context, content, budget, limit.",
  ]),
  GroupModelFallbacks: option(groupFallbacksType, "{}", [
    "relay",
    "The same by group; a group's list of a model goes before the one of ModelFallbacks.",
  ]),
  ClientFallbacks: option(flag, "true", [
    "relay",
    "Clients may name their own models to fall back to; off ignores their lists.",
  ]),
  BatchEnabled: option(flag, "true", ["relay", "Clients may create batches where a channel takes them."]),
  BatchGroups: option(linesType, "", ["relay", "Groups that may create batches, one a line; empty allows all."]),
  BatchMaxItems: option(positive, "100000", ["relay", "Requests that one batch may have."]),
  BatchMaxMegabytes: option(integerType(1, 2_048), "256", ["relay", "Size of one batch in MiB at most."]),
  BatchMaxOpenPerUser: option(count, "20", ["relay", "Batches that one user may have open at once; 0 is no limit."]),
  BatchGiveUpHours: option(positive, "72", [
    "relay",
    "Hours after which a batch whose results cannot be read waits for a person.",
  ]),
  BatchKeepDays: option(positive, "90", ["relay", "Days that a batch stays listed after its settlement."]),
  PromptCacheModels: option(linesType, "", [
    "relay",
    "Beginnings of model names whose prompts get cache marks, where a channel or a client wants them, one per line; empty means all.",
  ]),
  FilterOverrides: option(filterOverridesType, "{}", [
    "relay",
    "Betas and members of Messages requests that are sent to a host or left out, by host or id of a channel; wins over the built-in rules.",
  ]),
  ChannelStrategy: option(choiceType(CHANNEL_STRATEGIES, "weight, least_busy, latency or cost"), "weight", [
    "relay",
    "How a channel is chosen among those of one priority: weight, least_busy, latency or cost.",
  ]),
  ChannelStrategies: option(strategiesType, "{}", [
    "relay",
    "The same by model, prefix with * at its end, or *; goes before ChannelStrategy.",
  ]),
  ChannelAffinityEnabled: option(flag, "true", [
    "relay",
    "Conversations go to the channel that served them last, for the sake of prompt caches.",
  ]),
  ChannelAffinityRules: option(affinityRulesType, DEFAULT_AFFINITY_RULES, [
    "relay",
    "What requests belong to one conversation: the first rule that fits and finds a name in the request.",
  ]),
  ChannelQueueLength: option(count, "100", [
    "relay",
    "Requests that may wait for a channel whose own limits are reached; 0 refuses at once.",
  ]),
  ChannelQueueSeconds: option(integerType(1, 3_600), "10", [
    "relay",
    "Seconds that a request waits for a channel at most.",
  ]),
  ResponseCacheEnabled: option(flag, "false", [
    "relay",
    "Caches answers and repeats them for equal requests of one user.",
  ]),
  ResponseCacheSeconds: option(integerType(1, 604_800), "300", ["relay", "Seconds that an answer stays cached."]),
  ResponseCacheMegabytes: option(integerType(1, 65_536), "64", [
    "relay",
    "Most megabytes of cached answers: in each process, or in Redis for all of them.",
  ]),
  ResponseCacheRatio: option(numberType("not below 0"), "0", [
    "relay",
    "Part of the usual charge that a repeated answer costs; 0 is free.",
  ]),
  ResponseCacheGroups: option(linesType, "", [
    "relay",
    "Groups whose answers are cached, one per line; empty means all.",
  ]),
  ResponseCacheModels: option(linesType, "", [
    "relay",
    "Models whose answers are cached, one per line, * at the end matches anything; empty means all.",
  ]),
  ResponseCacheVersion: option(text, "", ["relay", "Any text; a new text drops every cached answer."]),
  KeptResponsesHours: option(integerType(0, 720), "24", [
    "relay",
    "Hours that responses are stored for follow-ups where the upstream speaks another protocol; 0 stores none.",
  ]),
  KeptResponsesMegabytes: option(integerType(1, 65_536), "64", [
    "relay",
    "Most megabytes of such responses: in each process, or in Redis for all of them.",
  ]),
} as const;
