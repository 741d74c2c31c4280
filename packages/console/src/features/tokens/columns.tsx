import { NEVER_EXPIRES, resolveLastUse, splitList, type Token } from "@fairway/wire";
import { Link, useLocation } from "react-router";
import { StateMark } from "../../shared/tokens/state-mark.tsx";
import type { Column } from "../../ui/grid/grid-props.ts";
import { useLimitsLine } from "../../ui/form/limits-line.ts";
import { Meter } from "../../ui/display/meter.tsx";
import { Money } from "../../ui/display/money.tsx";
import { maskKey } from "../../ui/content/connection.ts";
import { SecretCell } from "../../ui/content/secret-cell.tsx";
import { useTexts as useUiTexts } from "../../ui/texts.ts";
import { When } from "../../ui/display/when.tsx";
import { useTexts } from "./texts.ts";
import "./tokens.css";

const HIGH_PERCENT = 90;

function NameCell({ token }: { readonly token: Token }) {
  const { search } = useLocation();
  return (
    <Link className="link cut" to={{ pathname: `/token/edit/${token.id}`, search }}>
      <bdi>{token.name || `#${token.id}`}</bdi>
    </Link>
  );
}

function KeyCell({ token }: { readonly token: Token }) {
  const t = useTexts();
  const { key, name } = token;
  return (
    <SecretCell
      text={`sk-${key}`}
      masked={maskKey(key)}
      reveal={t("reveal", { name })}
      conceal={t("conceal", { name })}
      copy={t("copyKey", { name })}
    />
  );
}

function StateCell({ token }: { readonly token: Token }) {
  const t = useTexts();
  const models = token.model_limits_enabled ? splitList(token.model_limits) : [];
  return (
    <span className="nowrap">
      <StateMark token={token} />
      {models.length > 0 && (
        <span className="soft" title={models.join(", ")}>
          {" · "}
          {t("limitedModels", { count: models.length })}
        </span>
      )}
    </span>
  );
}

function UsedCell({ token }: { readonly token: Token }) {
  const t = useTexts();
  const ui = useUiTexts();
  if (token.unlimited_quota) {
    return (
      <span className="nowrap">
        <Money quota={token.used_quota} /> <span className="soft">· {ui("unlimited")}</span>
      </span>
    );
  }
  const limit = token.used_quota + token.remain_quota;
  const percent = limit === 0 ? 0 : Math.min(100, Math.round((token.used_quota / limit) * 100));
  return (
    <span className="meter-line">
      <Money quota={token.used_quota} />
      <Meter used={percent / 100} isHigh={percent > HIGH_PERCENT} label={t("usedOf", { percent })} />
      <Money quota={limit} />
    </span>
  );
}

function LimitsCell({ token }: { readonly token: Token }) {
  const line = useLimitsLine()(token.limits);
  return line === undefined ? <span className="soft">–</span> : <span>{line}</span>;
}

function ExpiresCell({ token }: { readonly token: Token }) {
  const ui = useUiTexts();
  return token.expired_time === NEVER_EXPIRES ? (
    <span className="soft">{ui("never")}</span>
  ) : (
    <When at={token.expired_time} />
  );
}

function LastUseCell({ token }: { readonly token: Token }) {
  const ui = useUiTexts();
  const at = resolveLastUse(token);
  return at === 0 ? <span className="soft">{ui("never")}</span> : <When at={at} />;
}

export function tokenColumns(t: ReturnType<typeof useTexts>): Column<Token>[] {
  return [
    {
      id: "name",
      header: t("name"),
      width: 160,
      isElastic: true,
      sort: "name",
      isTitle: true,
      cell: (token) => <NameCell token={token} />,
    },
    { id: "key", header: t("key"), width: 206, cell: (token) => <KeyCell token={token} /> },
    { id: "state", header: t("state"), width: 110, sort: "status", cell: (token) => <StateCell token={token} /> },
    {
      id: "used",
      header: t("used"),
      width: 190,
      rank: 0,
      sort: "used_quota",
      cell: (token) => <UsedCell token={token} />,
    },
    {
      id: "limits",
      header: t("requests"),
      width: 140,
      rank: 4,
      isMinor: true,
      cell: (token) => <LimitsCell token={token} />,
    },
    {
      id: "group",
      header: t("group"),
      width: 100,
      rank: 3,
      isMinor: true,
      cell: (token) => token.group || <span className="soft nowrap">{t("ownGroup")}</span>,
    },
    {
      id: "expires",
      header: t("expires"),
      width: 96,
      rank: 2,
      sort: "expired_time",
      cell: (token) => <ExpiresCell token={token} />,
    },
    {
      id: "lastUse",
      header: t("lastUse"),
      width: 104,
      rank: 6,
      isMinor: true,
      cell: (token) => <LastUseCell token={token} />,
    },
    {
      id: "created",
      header: t("created"),
      width: 104,
      rank: 5,
      sort: "created_time",
      isMinor: true,
      cell: (token) => <When at={token.created_time} />,
    },
  ];
}
