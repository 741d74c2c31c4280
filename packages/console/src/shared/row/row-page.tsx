import { Button } from "@chakra-ui/react";
import type { MessageKey } from "@fairway/wire";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { ApiProblem } from "../../lib/problems.ts";
import type { IconName } from "../../ui/display/icon.tsx";
import { Page } from "../../ui/display/page.tsx";
import { EmptyTeach, LoadFailed } from "../../ui/feedback/empty.tsx";
import { Placeholder } from "../../ui/feedback/placeholder.tsx";

/** Height in pixels of the placeholder for the row. */
const HEIGHT = 260;

interface RowPageProps<Row> {
  /** Title of the page until the row is loaded. */
  readonly title: string;
  readonly id: number;
  readonly row: Row | undefined;
  readonly query: { readonly error: Error | null; refetch(): Promise<unknown> };
  /** The text for a row that does not exist; `key` is the server's error code for it. */
  readonly missing?: {
    readonly key: MessageKey;
    readonly icon: IconName;
    readonly title: string;
    readonly body: string;
    /** The list, and the text of the link to it. */
    readonly list: { readonly path: string; readonly label: string };
  };
  children(row: Row): ReactNode;
}

/** Returns whether an address can name a row. */
export function isRowId(id: number): boolean {
  return Number.isSafeInteger(id) && id > 0;
}

/** Shows the page of one row, or the reason why there is none. */
export function RowPage<Row>({ title, id, row, query, missing, children }: RowPageProps<Row>) {
  if (row !== undefined) return children(row);
  const { error, refetch } = query;
  const isMissing = missing && (!isRowId(id) || (error instanceof ApiProblem && error.key === missing.key));
  return (
    <Page title={title}>
      {isMissing ? (
        <EmptyTeach icon={missing.icon} title={missing.title} body={missing.body}>
          <Button asChild variant="outline">
            <Link to={missing.list.path}>{missing.list.label}</Link>
          </Button>
        </EmptyTeach>
      ) : error ? (
        <LoadFailed problem={error} onRetry={() => void refetch()} />
      ) : (
        <Placeholder height={HEIGHT} label={title} />
      )}
    </Page>
  );
}
