import { useMediaQuery } from "@mantine/hooks";
import { getRouteApi } from "@tanstack/react-router";
import { useSay } from "../../i18n";
import { useMayEdit } from "../versions/SaveBar";

const route = getRouteApi("/p/$project/w/$workflow/edit");

/** useReadOnly says in words why this person cannot change the workflow here, or undefined where they can. */
export function useReadOnly(): string | undefined {
  const { t } = useSay();
  const { project } = route.useParams();
  const { may, role } = useMayEdit(project);
  const phone = useMediaQuery("(max-width: 640px)");
  if (!may) return t("canvas.readOnlyRole", { role: role ?? "", project });
  return phone ? t("canvas.readOnlyPhone") : undefined;
}
