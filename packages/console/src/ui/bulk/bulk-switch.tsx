import { copyText } from "../../lib/clipboard.ts";
import { ask } from "../feedback/ask.ts";
import { BulkBar, BulkButton } from "./bulk-bar.tsx";
import { eachOf, useBulk, type BulkAction, type Chosen, type RowChange } from "./bulk.ts";
import { useTexts } from "../texts.ts";
import { toast } from "../feedback/toaster.ts";

interface BulkSwitchProps<R extends Chosen> {
  readonly chosen: readonly R[];
  select(ids: ReadonlySet<number>): void;
  /** What the page says. */
  t(word: "copySelected" | "disable" | "enable" | "remove" | "removeManyBody" | "selectFirst"): string;
  /** What it says of a number of its rows. */
  tell(word: "changedMany" | "removedMany" | "removeManyTitle", count: number): string;
  /** The line of a row on the clipboard. */
  line(row: R): string;
  /** Changes one row. */
  change(kind: RowChange, id: number): Promise<unknown>;
  /** Reads the list again, once after all. */
  refresh(): Promise<void>;
}

/** Copies, enables, disables and deletes many rows of a kind. */
export function BulkSwitch<R extends Chosen>(props: BulkSwitchProps<R>) {
  const { chosen, select, t, tell } = props;
  const ui = useTexts();
  const bulk = useBulk(select);
  const act = (kind: RowChange, label: string): BulkAction => ({
    label,
    isCounted: true,
    send: async (ids, track) => {
      try {
        return await eachOf(ids, (id) => props.change(kind, id), track);
      } finally {
        await props.refresh();
      }
    },
    done: (count) => tell(kind === "delete" ? "removedMany" : "changedMany", count),
  });
  const copy = async () => {
    if (chosen.length === 0) return toast("error", t("selectFirst"));
    const isCopied = await copyText(chosen.map((row) => props.line(row)).join("\n"));
    toast(isCopied ? "success" : "error", ui(isCopied ? "copied" : "copyFailed"));
  };
  const remove = async () => {
    const title = tell("removeManyTitle", chosen.length);
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
