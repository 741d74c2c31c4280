import type { Channel } from "@fairway/wire";
import { lazy, Suspense, useState } from "react";
import { ask } from "../../ui/feedback/ask.ts";
import { eachOf, useBulk, type BulkAction } from "../../ui/bulk/bulk.ts";
import { BulkBar, BulkButton } from "../../ui/bulk/bulk-bar.tsx";
import { changeMany } from "./api.ts";
import { useTexts } from "./texts.ts";

const TagDialog = lazy(async () => ({ default: (await import("./tag-dialog.tsx")).TagDialog }));

interface BulkActionsProps {
  readonly chosen: readonly Channel[];
  select(ids: ReadonlySet<number>): void;
  /** Tests one channel, and shows it in its row. */
  test(id: number): Promise<unknown>;
}

/** What is done to many channels at once. */
export function BulkActions({ chosen, select, test }: BulkActionsProps) {
  const t = useTexts();
  const bulk = useBulk(select);
  const [isTagging, setTagging] = useState(false);
  const changed = (count: number) => t("changedMany", { count });
  const change = (label: string, what: Parameters<typeof changeMany>[1]): BulkAction => ({
    label,
    isCounted: false,
    send: (ids) => changeMany(ids, what),
    done: what.action === "delete" ? (count) => t("removedMany", { count }) : changed,
  });
  const testing: BulkAction = {
    label: t("testMany"),
    isCounted: true,
    send: (ids, track) => eachOf(ids, test, track),
    done: (count) => t("testedMany", { count }),
  };
  const remove = async () => {
    const title = t("removeManyTitle", { count: chosen.length });
    if (!(await ask({ title, body: t("removeManyBody"), confirm: t("remove"), isDangerous: true }))) return;
    bulk.run(change(t("remove"), { action: "delete" }), chosen);
  };
  const tag = (text: string) => {
    setTagging(false);
    bulk.run(change(t("tagMany"), { action: "patch", patch: { tag: text } }), chosen);
  };
  return (
    <>
      <BulkBar count={chosen.length} onClear={() => select(new Set())} bulk={bulk}>
        <BulkButton label={t("enable")} run={() => bulk.run(change(t("enable"), { action: "enable" }), chosen)} />
        <BulkButton label={t("disable")} run={() => bulk.run(change(t("disable"), { action: "disable" }), chosen)} />
        <BulkButton label={t("testMany")} run={() => bulk.run(testing, chosen)} />
        <BulkButton label={t("tagMany")} run={() => setTagging(true)} />
        <BulkButton label={t("remove")} isDangerous run={() => void remove()} />
      </BulkBar>
      <Suspense>
        {isTagging && <TagDialog count={chosen.length} onTag={tag} onClose={() => setTagging(false)} />}
      </Suspense>
    </>
  );
}
