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
  /** The row of the list, or read separately if the list does not contain it. */
  readonly row: Row | undefined;
  /** The query for a row that the list does not contain. */
  readonly query: { readonly error: Error | null; readonly isLoading: boolean; refetch(): Promise<unknown> };
  title(row: Row): ReactNode;
  /** Shown below the title. */
  lead?(row: Row): ReactNode;
  /** Shown next to the buttons for other rows. */
  tools?(row: Row): ReactNode;
  /** The title until the row is loaded. */
  readonly unknown: string;
  /** The text for a row that does not exist; `key` is the server's error code for it. */
  readonly missing: { readonly key?: MessageKey; readonly body: string };
  children(row: Row): ReactNode;
}

const FIELDS = "input, select, textarea, [contenteditable]";
/** Elements above the panel, which handle Escape first. */
const OVERLAYS = ':is([role="dialog"], [role="alertdialog"], [role="menu"])[data-state="open"]';
const STEPS: Readonly<Record<string, 1 | -1>> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };
const TITLE_ID = "peek-title";

/** J, K and the arrows open other rows, E edits, Escape closes; arrows scroll if text has the focus. */
function usePeekKeys({ close, move }: Steps): void {
  const act = useRef({ close, move });
  useEffect(() => {
    act.current = { close, move };
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target, key } = event;
      // J, K and arrows also move the focus of the list.
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

/** Shows one row next to its list: the list stays usable, and a key opens another row. */
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
          // The next row starts with everything collapsed.
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
