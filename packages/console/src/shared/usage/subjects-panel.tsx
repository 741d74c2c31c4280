import { Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { formatCount, formatShare } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { Money } from "../../ui/display/money.tsx";
import { Panel, PanelRow } from "../../ui/display/panel.tsx";
import { LoadFailed } from "../../ui/feedback/empty.tsx";
import { subjectsQuery, type UsageSubjectQuery } from "./api.ts";
import { callsName } from "./calls-name.ts";
import { logAddress, type LogPart } from "./log-link.ts";
import { useTexts } from "./texts.ts";

const MOST = 12;

interface SubjectsProps {
  readonly title: string;
  readonly asked: Omit<UsageSubjectQuery, "subject">;
  /** Returns the log filter of one subject; absent if the reader's log does not have its calls. */
  buildLogPart?(subject: string, name: string): LogPart;
}

function SubjectName(props: SubjectsProps & { readonly subject: string; readonly name: string }) {
  const { subject, name, asked, buildLogPart } = props;
  const layout = { className: "cut", style: { flex: 1, minWidth: "8rem" } };
  if (!buildLogPart)
    return (
      <span {...layout}>
        <bdi>{name}</bdi>
      </span>
    );
  return (
    <Link
      {...layout}
      className="link cut"
      to={logAddress({ range: asked.range, isErrors: false, ...buildLogPart(subject, name) })}
    >
      <bdi>{name}</bdi>
    </Link>
  );
}

/** The most expensive subjects, each with a link to its log. */
export function SubjectsPanel(props: SubjectsProps) {
  const t = useTexts();
  const language = useLanguage();
  const { data, error, refetch } = useQuery(subjectsQuery(props.asked));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel title={props.title} count={data?.subjects.length} empty={t("empty")}>
      {data?.subjects.slice(0, MOST).map(({ subject, name, calls, errors, quota }) => (
        <PanelRow key={subject}>
          <SubjectName {...props} subject={subject} name={name} />
          <Text color="fg.muted" order={{ base: 1, sm: 0 }} width={{ base: "full", sm: "auto" }}>
            {t("subjectCalls", {
              name: t(callsName(props.asked.by)).toLocaleLowerCase(language),
              calls: formatCount(calls, language),
              errors: formatShare(errors, calls, language, 1),
            })}
          </Text>
          <Text fontWeight="medium" minW="20" textAlign="end">
            <Money quota={quota} />
          </Text>
        </PanelRow>
      ))}
    </Panel>
  );
}
