import { Button } from "@chakra-ui/react";
import type { MessageKey } from "@fairway/wire";
import { useEffect, useRef, type ReactNode } from "react";
import { ApiProblem } from "../../lib/problems.ts";
import { stored } from "../../lib/storage.ts";
import { Icon } from "../display/icon.tsx";
import { IconButton } from "../display/icon-button.tsx";
import { LoadFailed, Loading } from "../feedback/empty.tsx";
import "./peek.css";
import { useTexts } from "./texts.ts";
import type { PeekState } from "./use-peek.ts";

type Steps = Pick<PeekState<unknown>, "key" | "hasPrevious" | "hasNext" | "close" | "move">;

interface PeekPanelProps<Row> {
  readonly peek: Steps;
  /** The row of the list, or read by itself where the list does not show it. */
  readonly row: Row | undefined;
  /** How the row is read where the list does not show it. */
  readonly query: { readonly error: Error | null; readonly isLoading: boolean; refetch(): Promise<unknown> };
  title(row: Row): ReactNode;
  /** Below the title. */
  lead?(row: Row): ReactNode;
  /** Next to the ways to other rows. */
  tools?(row: Row): ReactNode;
  /** The title until the row is there. */
  readonly unknown: string;
  /** What is said of a row that does not exist; `key` names the refusal of the server. */
  readonly missing: { readonly key?: MessageKey; readonly body: string };
  children(row: Row): ReactNode;
}

const FIELDS = "input, select, textarea, [contenteditable]";
/** What lies above the panel and takes Escape first. */
const OVERLAYS = ':is([role="dialog"], [role="alertdialog"], [role="menu"])[data-state="open"]';
const STEPS: Readonly<Record<string, 1 | -1>> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };
const TITLE_ID = "peek-title";

/** J, K and the arrows open other rows, E edits, Escape closes; arrows scroll where text has the focus. */
function usePeekKeys({ close, move }: Steps): void {
  const act = useRef({ close, move });
  useEffect(() => {
    act.current = { close, move };
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target, key } = event;
      // J, K and arrows move the focus of the list, too.
      if (event.defaultPrevented && STEPS[key] === undefined) return;
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector(OVERLAYS)) return;
      if (!(target instanceof Element) || target.closest(FIELDS)) return;
      const step = STEPS[key];
      const isLetter = key.length === 1;
      const edit = key === "e" ? document.querySelector<HTMLElement>(".peek [data-edit]") : null;
      if (key === "Escape") act.current.close();
      else if (isLetter && stored.shortcuts.read() === "off") return;
      else if (edit) edit.click();
      else if (step === undefined) return;
      else if (!isLetter && !target.matches(".peek, .grid-row")) return;
      else act.current.move(step);
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

function WaysOn({ peek }: { readonly peek: Steps }) {
  const t = useTexts();
  return (
    <>
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
    </>
  );
}

/** One row next to its list, to read: the list stays in use, and other rows are a key away. */
export function PeekPanel<Row>(props: PeekPanelProps<Row>) {
  const t = useTexts();
  const { peek, row, query, missing } = props;
  const panel = useRef<HTMLElement>(null);
  usePeekKeys(peek);
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    panel.current?.scrollTo({ top: 0 });
    document.querySelector(".grid-row.is-open")?.scrollIntoView({ block: "nearest" });
  }, [peek.key]);
  return (
    <aside ref={panel} className="peek" role="dialog" aria-labelledby={TITLE_ID} tabIndex={-1}>
      <header className="peek-head">
        <div className="peek-title">
          <h2 id={TITLE_ID}>{row === undefined ? props.unknown : props.title(row)}</h2>
          {row !== undefined && props.lead && <p className="soft">{props.lead(row)}</p>}
        </div>
        {row !== undefined && props.tools?.(row)}
        <WaysOn peek={peek} />
      </header>
      <div className="peek-body">
        {row === undefined ? (
          <Without query={query} missing={missing} />
        ) : (
          // Nothing that was opened in one row is open in the next.
          <div key={peek.key} className="peek-row">
            {props.children(row)}
          </div>
        )}
        {row === undefined && !query.isLoading && (
          <Button variant="outline" onClick={peek.close}>
            {t("close")}
          </Button>
        )}
      </div>
    </aside>
  );
}

function Without({ query, missing }: Pick<PeekPanelProps<unknown>, "query" | "missing">) {
  if (query.isLoading) return <Loading />;
  const isMissing = query.error === null || (query.error instanceof ApiProblem && query.error.key === missing.key);
  if (isMissing) return <p className="soft">{missing.body}</p>;
  return <LoadFailed problem={query.error} onRetry={() => void query.refetch()} />;
}
