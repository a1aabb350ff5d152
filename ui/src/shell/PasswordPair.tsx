import { PasswordInput } from "@mantine/core";
import { useId, useState } from "react";
import { minPassword, refused, strengthOf } from "../domain/password";
import { useSay } from "../i18n";

interface Props {
  user: string; // whose password it will be
  wrong: string | undefined; // what the server said of it
  size?: "xs" | "sm";
}

/** PasswordPair asks twice for a new password and says in words how good it is; its fields are named password and again. */
export function PasswordPair({ user, wrong, size = "sm" }: Props) {
  const { t } = useSay();
  const hint = useId();
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const strength = strengthOf(password, user);
  const differs = again !== "" && again !== password;
  return (
    <>
      <div>
        <PasswordInput
          size={size}
          name="password"
          label={t("account.password.new")}
          autoComplete="new-password"
          required
          value={password}
          onChange={(e) => setPassword(e.currentTarget.value)}
          error={wrong}
          aria-describedby={hint}
          visibilityToggleButtonProps={{ "aria-label": t("account.password.show") }}
        />
        <p id={hint} className={`strength strength-${strength}`} role="status">
          {strength !== "empty" && <i aria-hidden="true" />}
          {t(`account.password.${strength}`, { count: minPassword - [...password].length })}
        </p>
      </div>
      <PasswordInput
        size={size}
        name="again"
        label={t("account.password.again")}
        autoComplete="new-password"
        required
        value={again}
        onChange={(e) => setAgain(e.currentTarget.value)}
        error={differs ? t("account.err.notSame") : undefined}
        visibilityToggleButtonProps={{ "aria-label": t("account.password.show") }}
      />
    </>
  );
}

/** usable tells whether a form's pair may be sent; where it may not, the fields say why already. */
export function usable(form: FormData, user: string): boolean {
  const password = String(form.get("password"));
  return password === String(form.get("again")) && !refused.has(strengthOf(password, user));
}
