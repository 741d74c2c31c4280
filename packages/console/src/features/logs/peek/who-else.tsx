import type { LogRow } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { facetsQuery } from "../api.ts";
import type { LogOther } from "../other.ts";
import { buildAlikeAddress, buildAlikeFilter } from "./alike.ts";
import { useTexts } from "./texts.ts";

interface WhoElseProps {
  readonly row: LogRow;
  readonly other: LogOther;
}

/** Counts calls that failed with the same code at the same channel at about the same time, and leads to them. */
export function WhoElse({ row, other }: WhoElseProps) {
  const t = useTexts();
  const filter = buildAlikeFilter(row, other);
  const { data } = useQuery(facetsQuery(filter, true));
  if (!data) return null;
  const count = data.types.reduce((sum, one) => sum + one.count, 0);
  if (count <= 1) return <p className="soft">{t("whoElseNone")}</p>;
  return (
    <p>
      <Link className="link" to={buildAlikeAddress(filter)}>
        {t("whoElse")}
      </Link>{" "}
      <span className="soft">{t("whoElseCount", { count: count - 1, users: data.users.length })}</span>
    </p>
  );
}
