# complete.zsh FOLDER TYPED...: types each text and a tab into an interactive zsh with FOLDER first in its fpath, and
# prints the completed line. The final control-G is bound to a widget that shows the line. The marker is written in two
# halves, so that the echo of its definition is not taken for it.
zmodload zsh/zpty
zpty shell "zsh -f -i"
zpty -w shell "PROMPT=; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; zstyle ':completion:*' menu no
show() { zle -I; print -r -- \"li\"\"ne<\$BUFFER>\"; BUFFER=; }; zle -N show; bindkey '^G' show; bindkey '^I' complete-word"
shift
for typed in "$@"; do
  zpty -w -n shell "$typed"$'\t\a'
  text= chunk=
  for ((tries = 0; tries < 400; tries++)); do # 20 s
    while zpty -r -t shell chunk; do text+=$chunk; done
    [[ $text == *line\<*\>* ]] && break
    sleep 0.05
  done
  print -r -- ${${text#*line<}%%>*}
done
zpty -d shell
