import { Flex, Stack, Text } from "@chakra-ui/react";
import { tokenRotate, type RotatedKey } from "@fairway/wire";
import { useState } from "react";
import { call } from "../../lib/http.ts";
import { RotateForm } from "../../shared/rotation/rotate-form.tsx";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { When } from "../../ui/display/when.tsx";
import { Modal } from "../../ui/feedback/modal.tsx";
import { refresh } from "./api.ts";
import { useTexts } from "./texts.ts";

interface RotateProps {
  readonly token: { readonly id: number; readonly name: string };
  onClose(): void;
}

/** Gives a token a new key, asks how long the old one still works, and shows the new one. */
export function RotateDialog({ token, onClose }: RotateProps) {
  const [rotated, setRotated] = useState<RotatedKey>();
  const rotate = (seconds: number) =>
    call(tokenRotate, { params: { id: token.id }, body: { grace_seconds: seconds } }).finally(() => void refresh());
  if (rotated) return <NewKey name={token.name} rotated={rotated} onClose={onClose} />;
  return <RotateForm name={token.name} rotate={rotate} onRotated={setRotated} onClose={onClose} />;
}

function NewKey({ name, rotated, onClose }: { name: string; rotated: RotatedKey; onClose(): void }) {
  const t = useTexts();
  const key = `sk-${rotated.key}`;
  return (
    <Modal title={t("createdOne")} lead={t("createdBody")} hasCross closeOnInteractOutside={false} onClose={onClose}>
      <Stack gap="3">
        <Flex align="center" gap="2" bg="fairway.subtle" borderRadius="l2" px="3" py="1.5">
          <Text fontFamily="mono" textStyle="sm" flex="1" overflowWrap="anywhere" data-testid="new-key">
            {key}
          </Text>
          <CopyButton text={key} label={t("copyKey", { name })} />
        </Flex>
        {rotated.old.map(({ id, hint, expires_at: endsAt }) => (
          <Text key={id} textStyle="sm" color="fg.muted">
            <Text as="span" fontFamily="mono">
              {hint}
            </Text>{" "}
            {t("worksUntil")} <When at={endsAt} />
          </Text>
        ))}
      </Stack>
    </Modal>
  );
}
