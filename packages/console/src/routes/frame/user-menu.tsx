import { ROLE } from "@fairway/wire";
import { Box, Flex, Text } from "@chakra-ui/react";
import { LANGUAGES, setLanguage, useLanguage } from "../../lib/i18n.ts";
import type { StoredUser } from "../../lib/storage.ts";
import { MenuButton } from "../../ui/menu/menu-button.tsx";
import { Money } from "../../ui/display/money.tsx";
import { useSelf } from "../../session/self.ts";
import { useSignOut } from "../../shared/credentials/sign-out.ts";
import { useTexts } from "../../shared/texts.ts";
import { isSheetOpen } from "./overlays.ts";

function roleText(role: number): "role1" | "role10" | "role100" {
  if (role >= ROLE.root) return "role100";
  return role >= ROLE.admin ? "role10" : "role1";
}

function Heading({ user }: { readonly user: StoredUser }) {
  const t = useTexts();
  const self = useSelf();
  return (
    <Box px="2.5" py="2" borderBottomWidth="1px" mb="1">
      <Text fontWeight="semibold">{user.display_name || user.username}</Text>
      <Text textStyle="xs" color="fg.muted">
        {t(roleText(user.role))} · {user.group}
      </Text>
      {self && (
        <Flex justify="space-between" mt="2" textStyle="sm" gap="6">
          <Text color="fg.muted">{t("balance")}</Text>
          <Text fontWeight="medium">
            <Money quota={self.quota} />
          </Text>
        </Flex>
      )}
    </Box>
  );
}

export function UserMenu({ user }: { readonly user: StoredUser }) {
  const t = useTexts();
  const signOut = useSignOut();
  const language = useLanguage();
  const name = user.display_name || user.username;
  return (
    <MenuButton
      label={t("userMenu", { name })}
      borderRadius="full"
      bg="fairway.muted"
      color="fairway.fg"
      fontWeight="semibold"
      _hover={{ bg: "fairway.emphasized" }}
      heading={<Heading user={user} />}
      entries={[
        {
          id: "language",
          label: language === "en" ? LANGUAGES.zh : LANGUAGES.en,
          icon: "globe",
          run: () => void setLanguage(language === "en" ? "zh" : "en"),
        },
        { id: "shortcuts", label: t("shortcuts"), icon: "help", run: () => isSheetOpen.write(true) },
        undefined,
        { id: "exit", label: t("exit"), icon: "exit", run: signOut },
      ]}
    >
      {(name[0] ?? "?").toUpperCase()}
    </MenuButton>
  );
}
