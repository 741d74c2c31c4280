import { Button } from "@chakra-ui/react";
import { ROLE } from "@fairway/wire";
import { Link } from "react-router";
import { getRole, useUser } from "../../session/session.ts";
import { useTexts } from "../texts.ts";
import { buildHistoryAddress } from "./history-link.ts";

/** Leads to the changes of an object, such as `channel 7`; only the super administrator may read them. */
export function HistoryButton({ target }: { readonly target: string }) {
  const t = useTexts();
  if (getRole(useUser()) < ROLE.root) return null;
  return (
    <Button asChild variant="outline">
      <Link to={buildHistoryAddress(target)}>{t("history")}</Link>
    </Button>
  );
}
