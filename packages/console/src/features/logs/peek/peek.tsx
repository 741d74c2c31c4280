import type { LogRow } from "@fairway/wire";
import { Button } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { stored } from "../../../lib/storage.ts";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
import { Icon } from "../../../ui/display/icon.tsx";
import { IconButton } from "../../../ui/display/icon-button.tsx";
import { Mark } from "../../../ui/display/mark.tsx";
import { Stamp } from "../../../ui/display/stamp.tsx";
import { LoadFailed, Loading } from "../../../ui/feedback/empty.tsx";
import { rowQuery } from "../api.ts";
import { kindOf } from "../kinds.ts";
import { useTexts as useLogTexts } from "../texts.ts";
import "./peek.css";
import { RowStory } from "./row-story.tsx";
import { rowKeyOf } from "./row-key.ts";
import { useTexts } from "./texts.ts";
import type { PeekState } from "./use-peek.ts";

interface PeekProps {
  readonly peek: PeekState;
  readonly isAdmin: boolean;
}

const FIELDS = "input, select, textarea, [contenteditable]";
/** What lies above the panel and takes Escape first. */
const OVERLAYS = ':is([role="dialog"], [role="alertdialog"], [role="menu"])[data-state="open"]';
const STEPS: Readonly<Record<string, 1 | -1>> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };

/** J, K and the arrows open other rows, Escape closes; arrows scroll where text has the focus. */
function usePeekKeys({ close, move }: PeekState): void {
  const act = useRef({ close, move });
  useEffect(() => {
    act.current = { close, move };
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target, key } = event;
      if (event.defaultPrevented && key === "Escape") return;
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector(OVERLAYS)) return;
      if (!(target instanceof Element) || target.closest(FIELDS)) return;
      const step = STEPS[key];
      const isLetter = key.length === 1;
      if (key === "Escape") act.current.close();
      else if (step === undefined || (isLetter && stored.shortcuts.read() === "off")) return;
      else if (!isLetter && !target.matches(".log-peek, .grid-row")) return;
      else act.current.move(step);
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

function Head(props: PeekProps & { readonly row: LogRow | undefined }) {
  const t = useTexts();
  const say = useLogTexts();
  const { peek, row, isAdmin } = props;
  const kind = row && kindOf(row.type);
  const link = row && `${location.origin}/log?row=${encodeURIComponent(rowKeyOf(row, isAdmin))}`;
  return (
    <header className="log-peek-head">
      <div className="log-peek-title">
        <h2 id="log-peek-title">{row?.model_name || (kind ? say(kind.text) : t("row"))}</h2>
        {row && (
          <p className="soft">
            {kind && <Mark kind={kind.mark} label={say(kind.text)} />}
            <Stamp at={row.created_at} />
          </p>
        )}
      </div>
      {link !== undefined && <CopyButton text={link} label={t("copyLink")} />}
      <IconButton
        size="xs"
        label={t("previous")}
        disabled={!peek.hasPrevious}
        onClick={() => peek.move(-1)}
        aria-keyshortcuts="k"
      >
        <Icon name="up" />
      </IconButton>
      <IconButton
        size="xs"
        label={t("next")}
        disabled={!peek.hasNext}
        onClick={() => peek.move(1)}
        aria-keyshortcuts="j"
      >
        <Icon name="down" />
      </IconButton>
      <IconButton size="xs" label={t("close")} onClick={peek.close} aria-keyshortcuts="Escape">
        <Icon name="close" />
      </IconButton>
    </header>
  );
}

/** One row of the log next to the list: why it failed, why it went where it went, and why it cost what it cost. */
export function Peek({ peek, isAdmin }: PeekProps) {
  const t = useTexts();
  const panel = useRef<HTMLElement>(null);
  const { key, listed, close } = peek;
  const { data, error, isPending, refetch } = useQuery({ ...rowQuery(key, isAdmin), enabled: listed === undefined });
  const row = listed ?? data ?? undefined;
  usePeekKeys(peek);
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    panel.current?.scrollTo({ top: 0 });
    document.querySelector(".log-grid .grid-row.is-open")?.scrollIntoView({ block: "nearest" });
  }, [key]);
  return (
    <aside ref={panel} className="log-peek" role="dialog" aria-labelledby="log-peek-title" tabIndex={-1}>
      <Head peek={peek} row={row} isAdmin={isAdmin} />
      <div className="log-peek-body">
        {row ? (
          <RowStory key={row.request_id || row.id} row={row} isAdmin={isAdmin} />
        ) : isPending ? (
          <Loading />
        ) : error && data === undefined ? (
          <LoadFailed problem={error} onRetry={() => void refetch()} />
        ) : (
          <p className="soft">{t("rowMissing")}</p>
        )}
        {!row && !isPending && (
          <Button variant="outline" mt="3" onClick={close}>
            {t("close")}
          </Button>
        )}
      </div>
    </aside>
  );
}
