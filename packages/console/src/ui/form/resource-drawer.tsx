import type { UseQueryOptions } from "@tanstack/react-query";
import { Fragment, useMemo, type ReactNode } from "react";
import { useLocation, useNavigate } from "react-router";
import type { Version } from "../../lib/rows.ts";
import { DrawerLoading, DrawerShell } from "./form-drawer.tsx";
import { useEdited, type Edited } from "./use-edited.ts";

/** Returns to the list under a drawer, with its filters. */
export function useCloseTo(list: string): () => void {
  const navigate = useNavigate();
  const { search } = useLocation();
  return () => void navigate({ pathname: list, search });
}

interface EditDrawerProps<Row, Draft> {
  readonly title: string;
  /** Path of the list that closing leads to. */
  readonly list: string;
  readonly id: number;
  readonly query: UseQueryOptions<Version<Row>, Error, Version<Row>, (string | number)[]>;
  mark?(row: Row): ReactNode;
  draftOf(row: Row): Draft;
  /** Renders the form; a newer version of the row mounts it again. */
  form(initial: Draft, edited: Edited<Row>): ReactNode;
}

/** The drawer that edits a row: reads it, and shows the form when it has arrived. */
export function EditDrawer<Row, Draft>(props: EditDrawerProps<Row, Draft>) {
  const { draftOf } = props;
  const close = useCloseTo(props.list);
  const { edited, error, retry } = useEdited(props.query);
  const row = edited?.row;
  const initial = useMemo(() => row && draftOf(row), [row, draftOf]);
  return (
    <DrawerShell kind="edit" title={props.title} mark={row && props.mark?.(row)} onClose={close}>
      {edited && initial ? (
        <Fragment key={`${props.id} ${edited.edition}`}>{props.form(initial, edited)}</Fragment>
      ) : (
        <DrawerLoading problem={error} onRetry={retry} />
      )}
    </DrawerShell>
  );
}
