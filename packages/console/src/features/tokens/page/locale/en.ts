export const en = {
  addresses: "Where it was used from",
  addressesAll: "{count} {count:address|addresses}",
  addressUnknown: "Unknown address",
  models: "What it was used for",
  unused: "No call in this period.",
  calls: "{count} {count:call|calls}",
  failed: "{count} failed",
  partial: "Only the newest {count} calls are counted.",
} as const;
