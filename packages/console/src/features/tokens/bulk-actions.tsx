import type { Token } from "@fairway/wire";
import { ask } from "../../ui/ask.ts";
import { eachOf, useBulk, type BulkAction } from "../../ui/bulk.ts";
import { BulkBar, BulkButton } from "../../ui/bulk-bar.tsx";
import { copyText } from "../../lib/clipboard.ts";
import { useTexts as useUiTexts } from "../../ui/texts.ts";
import { toast } from "../../ui/toaster.ts";
import { changeTokens } from "./api.ts";
import { useTexts } from "./texts.ts";

interface BulkActionsProps {
  readonly rows: readonly Token[];
  readonly selected: ReadonlySet<number>;
  select(ids: ReadonlySet<number>): void;
}

/** What is done to many tokens at once. */
export function BulkActions({ rows, selected, select }: BulkActionsProps) {
  const t = useTexts();
  const ui = useUiTexts();
  const bulk = useBulk(select);
  const chosen = rows.filter(({ id }) => selected.has(id));
  const act = (kind: Parameters<typeof changeTokens>[0], label: string): BulkAction => ({
    label,
    isCounted: true,
    send: (ids, track) => changeTokens(kind, (change) => eachOf(ids, change, track)),
    done: (count) => t(kind === "delete" ? "removedMany" : "changedMany", { count }),
  });
  const copy = async () => {
    if (chosen.length === 0) return toast("error", t("selectFirst"));
    const isCopied = await copyText(chosen.map((token) => `${token.name}    sk-${token.key}`).join("\n"));
    toast(isCopied ? "success" : "error", ui(isCopied ? "copied" : "copyFailed"));
  };
  const remove = async () => {
    const title = t("removeManyTitle", { count: chosen.length });
    if (!(await ask({ title, body: t("removeManyBody"), confirm: t("remove"), isDangerous: true }))) return;
    bulk.run(act("delete", t("remove")), chosen);
  };
  return (
    <BulkBar count={chosen.length} onClear={() => select(new Set())} bulk={bulk}>
      <BulkButton label={t("copySelected")} run={() => void copy()} />
      <BulkButton label={t("enable")} run={() => bulk.run(act("enable", t("enable")), chosen)} />
      <BulkButton label={t("disable")} run={() => bulk.run(act("disable", t("disable")), chosen)} />
      <BulkButton label={t("remove")} isDangerous run={() => void remove()} />
    </BulkBar>
  );
}
