import { Button } from "@chakra-ui/react";
import { ROLE } from "@fairway/wire";
import { Link } from "react-router";
import { useUser } from "../../session/session.ts";
import { EmptyTeach } from "./empty.tsx";
import type { IconName } from "../display/icon.tsx";
import { useTexts } from "../texts.ts";

/** Replaces a page that the operator disabled, and says who can enable it. */
export function SwitchedOff(props: { readonly name: string; readonly icon: IconName }) {
  const t = useTexts();
  const isRoot = (useUser()?.role ?? ROLE.guest) >= ROLE.root;
  return (
    <EmptyTeach icon={props.icon} title={t("offTitle", { name: props.name })} body={t("offBody")}>
      {isRoot && (
        <Button asChild>
          <Link to="/setting?tab=operation">{t("offAction")}</Link>
        </Button>
      )}
    </EmptyTeach>
  );
}
