import { USER_STATUS, userGet } from "@fairway/wire";
import { Button, Flex } from "@chakra-ui/react";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { formatCount } from "../../../lib/format.ts";
import { call } from "../../../lib/http.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import { Mark } from "../../../ui/display/mark.tsx";
import { Money } from "../../../ui/display/money.tsx";
import { LoadFailed, Loading } from "../../../ui/feedback/empty.tsx";
import { useTexts } from "./texts.ts";
import { Modal } from "../../../ui/feedback/modal.tsx";

function userQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.logs.user(id),
    queryFn: ({ signal }) => call(userGet, { params: { id }, signal }),
  });
}

interface UserDialogProps {
  readonly id: number;
  readonly name: string;
  onCalls(): void;
  onClose(): void;
}

function Account({ id }: { readonly id: number }) {
  const t = useTexts();
  const language = useLanguage();
  const { data: user, error, refetch } = useQuery(userQuery(id));
  if (error) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  if (!user) return <Loading />;
  const isOn = user.status === USER_STATUS.enabled && user.DeletedAt === null;
  return (
    <dl className="log-user">
      <dt>{t("status")}</dt>
      <dd>
        <Mark kind={isOn ? "go" : "parked"} label={t(isOn ? "enabled" : user.DeletedAt ? "deleted" : "disabled")} />
      </dd>
      <dt>{t("balance")}</dt>
      <dd>
        <Money quota={user.quota} />
      </dd>
      <dt>{t("used")}</dt>
      <dd>
        <Money quota={user.used_quota} />
      </dd>
      <dt>{t("requests")}</dt>
      <dd>{formatCount(user.request_count, language)}</dd>
      <dt>{t("group")}</dt>
      <dd>{user.group}</dd>
    </dl>
  );
}

/** Shows the user of a log row. */
export function UserDialog({ id, name, onCalls, onClose }: UserDialogProps) {
  const t = useTexts();
  return (
    <Modal
      title={<bdi>{name}</bdi>}
      maxW="400px"
      onClose={onClose}
      footer={
        <Flex gap="2" wrap="wrap" justify="flex-end">
          <Button variant="outline" onClick={onClose}>
            {t("close")}
          </Button>
          <Button variant="outline" onClick={onCalls}>
            {t("calls")}
          </Button>
          <Button asChild>
            <Link to={`/user/${id}`}>{t("open")}</Link>
          </Button>
        </Flex>
      }
    >
      <Account id={id} />
    </Modal>
  );
}
