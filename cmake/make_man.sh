#!/bin/sh
# make_man.sh HELP2MAN SLUICE VERSION SECTIONS FOLDER: writes man pages of the command and of each subcommand, from their
# help texts. SECTIONS is a file of help2man with sections for each page.
set -eu
export LC_ALL=C.UTF-8 # ranges of letters, and what help2man writes itself, depend on the locale
help2man=$1 sluice=$2 version=$3 sections=$4 folder=$5
rm -rf "$folder"
mkdir -p "$folder/tools"
commands=$("$sluice" --help | sed -n 's/^  sluice \([a-z]\+\).*/\1/p')

# The sections, and all other pages.
{
  cat "$sections"
  printf '\n[SEE ALSO]\n.BR sluice (1)'
  for command in $commands; do printf ',\n.BR sluice\\-%s (1)' "$command"; done
  echo
} >"$folder/tools/sections"

# page NAME COMMAND DOC: help2man takes a page's name from the program that it calls. SECTIONS has the exit status. All paths
# are relative, since help2man reads letters of paths as the locale has them.
cd "$folder/tools"
page() {
  printf '#!/bin/sh\n"%s" %s "$@" | sed "/^Exit status: /,\\$d"\n' "$sluice" "$2" >"$1"
  chmod +x "$1"
  "$help2man" --no-info --manual "Sluice" --source "Sluice $version" --version-string "$version" --name "$3" \
    --include sections --output "../$1.1" "./$1"
}

page sluice "" "run and examine data-flow graphs of plugin algorithms"
for command in $commands; do
  doc=$("$sluice" "$command" --help | sed -n "s/^sluice $command: \(.*\)\.\$/\1/p")
  page "sluice-$command" "$command" "$doc"
done
cd ..
rm -r tools
