import { batchRatiosType } from "./batch-price-types.ts";
import { option } from "./option-definition.ts";
import { choiceType, integerType, numberType } from "./option-kinds.ts";

/** Options for what batches cost and reserve. */
export const BATCH_PRICE_OPTIONS = {
  BatchRatios: option(batchRatiosType, "{}", [
    "prices",
    "What requests of batches cost, as multiples of the model's rates for input and output; it wins over the price list.",
  ]),
  BatchDefaultRatio: option(numberType("not below 0"), "1", [
    "prices",
    "The same for models that neither BatchRatios nor the price list knows; 1 gives no discount.",
  ]),
  BatchDepositPercent: option(integerType(1, 1000), "100", [
    "quota",
    "Part of a batch's estimated cost that is taken when it is created; never less than all of it under a hard budget.",
  ]),
  BatchUncapped: option(choiceType(["assume", "refuse"], "assume or refuse"), "assume", [
    "quota",
    "Requests of batches without an output limit: an assumed one is reserved, or they are refused.",
  ]),
  BatchAssumedOutput: option(integerType(1, 1_000_000), "4096", [
    "quota",
    "Output tokens that such a request reserves, at most the model's limit.",
  ]),
} as const;
