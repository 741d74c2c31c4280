import { Button } from "@chakra-ui/react";
import { Link, useLocation } from "react-router";

interface PeekActionsProps {
  /** The edit form of the row; undefined if it cannot be edited. */
  readonly edit: { readonly path: string; readonly label: string } | undefined;
  /** The page of the row, if it has one. */
  readonly page?: { readonly path: string; readonly label: string };
}

/** Links from the open row: to its form, over the current list, and to its page. */
export function PeekActions({ edit, page }: PeekActionsProps) {
  const { search } = useLocation();
  return (
    <div className="peek-actions">
      {edit && (
        <Button asChild size="sm">
          <Link to={{ pathname: edit.path, search }} data-edit="" aria-keyshortcuts="e">
            {edit.label}
          </Link>
        </Button>
      )}
      {page && (
        <Button asChild size="sm" variant="outline">
          <Link to={page.path}>{page.label}</Link>
        </Button>
      )}
    </div>
  );
}
