import { addQuota, ZERO } from "../../billing/money/quota.ts";
import { isSameModel, modelIn } from "../../dialects/core/answered-model.ts";
import {
  NO_USAGE,
  type Dialect,
  type DialectId,
  type JsonObject,
  type Operation,
  type Usage,
} from "../../dialects/core/types.ts";
import { servedTiers } from "../../dialects/core/served-tiers.ts";
import { dialectById } from "../../dialects/index.ts";
import { priceItem, type AnswerFacts, type ItemCharge } from "../pricing/items.ts";
import type { ModelTerms, OpenTerms } from "../pricing/terms.ts";
import { IdSet } from "./id-set.ts";
import { LineSplitter } from "./lines.ts";
import { ListElementSplitter } from "./list-elements.ts";
import { readOutcome, type Outcome, type ReadFormat, type ResultFormat } from "./outcomes.ts";
import { readPieces, type Piece } from "./pieces.ts";
import { ModelTotals, type BatchSums } from "./sums.ts";

/** What the row of the batch says about one of its models. */
export interface BatchedModel {
  /** The name that the upstream got. */
  readonly upstream: string;
  readonly items: number;
  /** Estimated tokens of all its prompts, for answers without usage. */
  readonly promptTokens?: number;
}

export interface ReadResultsRequest {
  readonly format: ReadFormat;
  /** Output first, errors last; a file that does not exist is left out. */
  readonly streams: readonly AsyncIterable<Uint8Array>[];
  readonly terms: OpenTerms;
  /** By the client's name of the model. */
  readonly models: Readonly<Record<string, BatchedModel>>;
  /** The number of items of the batch. */
  readonly total: number;
  /** The ids of the batch, if they are known. */
  readonly knownIds?: { has(id: string): boolean };
  /** Counts the tokens of texts. */
  readonly count: (model: string, texts: readonly string[]) => Promise<readonly number[]>;
}

/**
 * Reads all results of a batch and adds up what they cost. Nothing is written, so a reading that fails is repeated from
 * the first byte. Rejects with the error of a stream that breaks.
 */
export async function readBatchResults(request: ReadResultsRequest): Promise<BatchSums> {
  const reader = new ResultsReader(request);
  for (const stream of request.streams) {
    const splitter =
      request.format === "gemini-inline" ? new ListElementSplitter("inlinedResponses") : new LineSplitter();
    for await (const pieces of readPieces(stream, splitter))
      for (const piece of pieces) {
        const pending = reader.read(piece);
        if (pending) await pending;
      }
  }
  return reader.sums();
}

const OPENAI_DIALECTS: Readonly<Partial<Record<Operation, DialectId>>> = {
  chat: "openai-chat",
  completions: "openai-completions",
  responses: "openai-responses",
  embeddings: "openai-embeddings",
  moderations: "openai-moderations",
  "images.generations": "openai-images",
  "images.edits": "openai-images",
};

/** Returns the protocol of the answers. Throws if a batch cannot have them. */
function findDialect(format: ReadResultsRequest["format"], operation: Operation): Dialect {
  const ids: Readonly<Record<typeof format, DialectId | undefined>> = {
    openai: OPENAI_DIALECTS[operation],
    anthropic: "anthropic-messages",
    gemini: operation === "embeddings" ? "gemini-embed" : "gemini-generate",
    "gemini-inline": operation === "embeddings" ? "gemini-embed" : "gemini-generate",
  };
  const id = ids[format];
  const dialect = id && dialectById(id);
  if (!dialect) throw new Error(`batches have no answers of ${operation}`);
  return dialect;
}

const BLANK = /^\s*$/;

class ResultsReader {
  readonly #request: ReadResultsRequest;
  readonly #format: ResultFormat;
  readonly #dialect: Dialect;
  readonly #seen = new IdSet();
  readonly #totals: ReadonlyMap<string, ModelTotals>;
  readonly #results = { succeeded: 0, failed: 0, expired: 0, cancelled: 0 };
  #items = 0;
  #unreadable = 0;
  #duplicates = 0;

  constructor(request: ReadResultsRequest) {
    const { format, terms } = request;
    this.#request = request;
    this.#format = format === "gemini-inline" ? "gemini" : format;
    this.#dialect = findDialect(format, terms.operation);
    this.#totals = new Map([...terms.models.keys()].map((model) => [model, new ModelTotals(model)]));
  }

  /** Reads one piece; returns a promise only if its tokens have to be counted. */
  read(piece: Piece): Promise<void> | undefined {
    if (piece && piece.length < 16 && BLANK.test(piece.toString("latin1"))) return undefined;
    const outcome = piece && readOutcome(piece, this.#format);
    if (!outcome || !this.#isItem(outcome)) return this.#skip();
    if (outcome.id !== undefined && !this.#seen.add(outcome.id)) {
      this.#duplicates += 1;
      return undefined;
    }
    const { answer, result } = outcome;
    this.#items += 1;
    if (!answer) return this.#note(result);
    const usage = this.#dialect.usage(answer);
    return usage ? this.#charge(answer, usage) : this.#countAnswer(answer);
  }

  #note(result: Outcome["result"]): undefined {
    this.#results[result] += 1;
  }

  #skip(): undefined {
    this.#unreadable += 1;
  }

  /** Ids that the batch does not have, and more items than it has, cost nothing and displace nothing. */
  #isItem({ id }: Outcome): boolean {
    const { knownIds, total } = this.#request;
    if (id !== undefined && this.#seen.has(id)) return true;
    return this.#items < total && (id === undefined || knownIds === undefined || knownIds.has(id));
  }

  #charge(answer: JsonObject, usage: Usage): undefined {
    try {
      const { terms, charge } = this.#price(answer, usage);
      this.#totals.get(terms.model)?.add(usage, charge);
      this.#results.succeeded += 1;
    } catch (error) {
      // No balance can pay such an amount, so the usage cannot be true.
      if (!(error instanceof RangeError)) throw error;
      this.#unreadable += 1;
    }
  }

  /** An answer without usage: its texts are counted, and its prompt is the average of the estimates. */
  async #countAnswer(answer: JsonObject): Promise<void> {
    const [terms] = this.#findModels(answer);
    const batched = terms && this.#request.models[terms.model];
    const { text, extra } = this.#dialect.answerTexts(answer);
    const [tokens = 0] = await this.#request.count(batched?.upstream ?? "", [text]);
    const input =
      batched?.promptTokens === undefined ? 0 : Math.ceil(batched.promptTokens / Math.max(batched.items, 1));
    this.#charge(answer, { ...NO_USAGE, input, output: tokens + extra, source: "counted" });
  }

  /** Returns the charge. Where several models may have answered, the dearest one counts. */
  #price(answer: JsonObject, usage: Usage): { readonly terms: ModelTerms; readonly charge: ItemCharge } {
    const { terms: all } = this.#request;
    const facts = readFacts(answer);
    const charges = this.#findModels(answer).map((terms) => ({ terms, charge: priceItem(all, terms, usage, facts) }));
    const [first, ...others] = charges;
    if (!first) throw new Error("the batch has no model");
    return others.reduce((dearest, one) => (one.charge.quota > dearest.charge.quota ? one : dearest), first);
  }

  /** Returns the models of the batch that the answer may be of: those whose upstream name it has, else all. */
  #findModels(answer: JsonObject): readonly ModelTerms[] {
    const { terms, models } = this.#request;
    const all = [...terms.models.values()];
    const answered = all.length === 1 ? undefined : modelIn(answer);
    if (answered === undefined) return all;
    const upstream = ({ model }: ModelTerms) => models[model]?.upstream ?? model;
    const exact = all.filter((one) => upstream(one) === answered);
    const similar = exact.length > 0 ? exact : all.filter((one) => isSameModel(upstream(one), answered));
    return similar.length > 0 ? similar : all;
  }

  sums(): BatchSums {
    const models = [...this.#totals.values()].map(({ sums }) => sums).filter(({ succeeded }) => succeeded > 0);
    return {
      ...this.#results,
      unreadable: this.#unreadable,
      duplicates: this.#duplicates,
      missing: Math.max(0, this.#request.total - this.#items),
      quota: models.reduce((sum, { quota }) => addQuota(sum, quota), ZERO),
      full: models.reduce((sum, { full }) => addQuota(sum, full), ZERO),
      models,
    };
  }
}

/** Answers name the tiers that served, and pictures their size and quality. */
function readFacts(answer: JsonObject): AnswerFacts {
  const { size, quality } = answer;
  const served = servedTiers(answer);
  return {
    ...(served && { tiers: Object.values(served) }),
    ...(typeof size === "string" && { size }),
    ...(typeof quality === "string" && { quality }),
  };
}
