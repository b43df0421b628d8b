package journal
import ("testing";"os";"os/exec")
func TestDbg(t *testing.T){
	path := t.TempDir()+"/journal.db"
			j, stop := running(t, Options{Path: path})
			for range 10 {
				appended(t, j, Begins, entries(1000, "one")...)
			}
	b,_:=exec.Command("ls","-la",t.TempDir()+"/../001").CombinedOutput(); t.Log(string(b))
			stop()
	b,_=exec.Command("ls","-la",t.TempDir()+"/../001").CombinedOutput(); t.Log(string(b))
	i,_:=os.Stat(path); t.Log(os.Truncate(path,i.Size()/2))
	_,err:=Open(t.Context(),Options{Path:path}); t.Log(err)
}
