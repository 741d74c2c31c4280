import type { DatabaseImport } from "./context.ts";

/** Names that mean all models. */
const ALL = new Set(["*", "all-proxy-models"]);

export function isAllModels(name: string): boolean {
  return ALL.has(name);
}

/** Replaces patterns with the models that exist here now and match them. */
export function spreadPatterns({ models, report }: DatabaseImport, names: readonly string[]): string[] {
  if (names.some((name) => name.includes("*")))
    report.remark("keys name models by patterns: they may use what matches among the models of this day");
  return names.flatMap((name) => (name.includes("*") ? models.filter((model) => matches(model, name)) : [name]));
}

function matches(model: string, pattern: string): boolean {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`).test(model);
}
