import type { UseQueryOptions } from "@tanstack/react-query";
import { Fragment, useMemo, type ReactNode } from "react";
import { useParams } from "react-router";
import type { Version } from "../../lib/rows.ts";
import { DrawerLoading, DrawerShell } from "./form-drawer.tsx";
import { useCloseTo } from "./use-close-to.ts";
import { useEdited, type Edited } from "./use-edited.ts";

interface EditDrawerProps<Row, Draft> {
  readonly title: string;
  /** Path of the list that opens after closing. */
  readonly list: string;
  /** Reads the row whose id is in the address. */
  query(id: number): UseQueryOptions<Version<Row>, Error, Version<Row>, (string | number)[]>;
  mark?(row: Row): ReactNode;
  toDraft(row: Row): Draft;
  /** Renders the form; a newer version of the row remounts it. */
  form(initial: Draft, edited: Edited<Row>): ReactNode;
}

/** The drawer that edits a row: it reads the row, and then shows the form. */
export function EditDrawer<Row, Draft>(props: EditDrawerProps<Row, Draft>) {
  const { toDraft } = props;
  const close = useCloseTo(props.list);
  const id = Number(useParams().id);
  const { edited, error, retry } = useEdited(props.query(id));
  const row = edited?.row;
  const initial = useMemo(() => row && toDraft(row), [row, toDraft]);
  return (
    <DrawerShell kind="edit" title={props.title} mark={row && props.mark?.(row)} onClose={close}>
      {edited && initial ? (
        <Fragment key={`${id} ${edited.edition}`}>{props.form(initial, edited)}</Fragment>
      ) : (
        <DrawerLoading problem={error} onRetry={retry} />
      )}
    </DrawerShell>
  );
}
