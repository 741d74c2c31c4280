import type { LogRow } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
import { Mark } from "../../../ui/display/mark.tsx";
import { Stamp } from "../../../ui/display/stamp.tsx";
import { PeekPanel } from "../../../ui/peek/peek-panel.tsx";
import type { PeekState } from "../../../ui/peek/use-peek.ts";
import { rowQuery } from "../api.ts";
import { findKind } from "../kinds.ts";
import { useTexts as useLogTexts } from "../texts.ts";
import "./peek.css";
import { RowStory } from "./row-story.tsx";
import { buildRowKey } from "./row-key.ts";
import { useTexts } from "./texts.ts";

interface PeekProps {
  readonly peek: PeekState<LogRow>;
  readonly isAdmin: boolean;
}

/** Shows one row of the log next to the list: why it failed, why it used its channel, and why it cost what it did. */
export function Peek({ peek, isAdmin }: PeekProps) {
  const t = useTexts();
  const say = useLogTexts();
  const { key, listed } = peek;
  const query = useQuery({ ...rowQuery(key, isAdmin), enabled: listed === undefined });
  const kindText = (row: LogRow) => {
    const kind = findKind(row.type);
    return kind && say(kind.text);
  };
  return (
    <PeekPanel
      peek={peek}
      row={listed ?? query.data ?? undefined}
      query={query}
      unknown={t("row")}
      missing={{ body: t("rowMissing") }}
      title={(row) => row.model_name || (kindText(row) ?? t("row"))}
      lead={(row) => <Lead row={row} />}
      tools={(row) => (
        <CopyButton
          text={`${location.origin}/log?row=${encodeURIComponent(buildRowKey(row, isAdmin))}`}
          label={t("copyLink")}
        />
      )}
    >
      {(row) => <RowStory row={row} isAdmin={isAdmin} />}
    </PeekPanel>
  );
}

function Lead({ row }: { readonly row: LogRow }) {
  const say = useLogTexts();
  const kind = findKind(row.type);
  return (
    <>
      {kind && <Mark kind={kind.mark} label={say(kind.text)} />}
      <Stamp at={row.created_at} />
    </>
  );
}
