import { Button, Flex, Text } from "@chakra-ui/react";
import type { TeamToken } from "@fairway/wire";
import { Connect } from "../../../shared/connect/connect.tsx";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
import { Modal } from "../../../ui/feedback/modal.tsx";
import { useTexts } from "../texts.ts";

interface ShownKeyProps {
  readonly title: string;
  readonly lead: string;
  readonly teamId: number;
  readonly token: TeamToken;
  onClose(): void;
}

/** Shows a key in clear text, with a first request to try. */
export function ShownKey({ title, lead, teamId, token, onClose }: ShownKeyProps) {
  const t = useTexts();
  const key = `sk-${token.key}`;
  return (
    <Modal
      title={title}
      lead={lead}
      size="lg"
      closeOnInteractOutside={false}
      body={{ maxH: "78dvh", overflowY: "auto" }}
      onClose={onClose}
      footer={<Button onClick={onClose}>{t("done")}</Button>}
    >
      <Flex align="center" gap="2" bg="fairway.subtle" borderRadius="l2" px="3" py="1.5" mb="4">
        <Text fontFamily="mono" textStyle="sm" flex="1" overflowWrap="anywhere" data-testid="new-key">
          {key}
        </Text>
        <CopyButton text={key} label={t("copyKey", { name: token.name })} />
      </Flex>
      <Connect token={token} teamId={teamId} isPrimary />
    </Modal>
  );
}
