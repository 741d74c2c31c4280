import { Button } from "@chakra-ui/react";
import { Link, useLocation } from "react-router";

interface PeekActionsProps {
  /** Where the row is edited; undefined for rows that cannot be. */
  readonly edit: { readonly path: string; readonly label: string } | undefined;
  /** The page of the row, for rows that have one. */
  readonly page?: { readonly path: string; readonly label: string };
}

/** The ways from the open row: to its form, over the list as it is, and to its page. */
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
